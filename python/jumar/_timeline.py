"""The timeline of a program, as a file for Perfetto and as an image in a notebook."""

from __future__ import annotations

import html
import json
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from . import _runtime

_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#eeca3b")
_ROW = 22
_WIDTH = 960
_LABEL = 150


class Slice(NamedTuple):
    """A piece of work on a track."""

    #: ``device 0 / stream 3``, or a thread's name.
    track: str
    #: What was done, for example ``copy host to device 4 KiB``.
    name: str
    #: When it began, in microseconds from the first slice on.
    start: float
    #: How long it took, in microseconds.
    duration: float


def trace(path: Optional[Union[str, os.PathLike[str]]] = None) -> Timeline:
    """Writes a timeline of what this process does on its devices from the first call on.

    Args:
        path: the file; one in the system's temporary folder without it.

    Raises:
        RuntimeError: the runtime runs already; how it watches itself is decided when it starts.
    """
    if _runtime.is_running():
        raise RuntimeError("jumar.trace() has to come before the first device, array or model of the process")
    if path is None:
        path = Path(tempfile.mkdtemp(prefix="jumar-")) / "timeline.json"
    os.environ["JUMAR_TRACE"] = os.fspath(path)
    return Timeline(path)


class Timeline:
    """A timeline that was or is being written. In a notebook it shows itself as an image.

    Args:
        path: a file that ``jumar run --trace`` or :func:`trace` wrote.
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = Path(path)

    def _events(self) -> list[dict[str, Any]]:
        if _runtime.is_running():
            # Waiting for the device brings the file up to date.
            _runtime.synchronize()
        if not self.path.exists():
            return []
        with self.path.open(encoding="utf-8") as file:
            events: list[dict[str, Any]] = json.load(file)["traceEvents"]
        return events

    def slices(self) -> list[Slice]:
        """Returns every finished slice of the devices' streams and the program's threads, in order of time.

        While the runtime runs the call waits for the current device first.
        """
        events = self._events()
        groups: dict[Any, str] = {}
        tracks: dict[tuple[Any, Any], str] = {}
        for event in events:
            if event.get("ph") == "M" and event["name"] == "process_name":
                groups[event["pid"]] = event["args"]["name"]
            if event.get("ph") == "M" and event["name"] == "thread_name":
                tracks[event["pid"], event["tid"]] = event["args"]["name"]
        done = [event for event in events if event.get("ph") == "X"]
        first = min((event["ts"] for event in done), default=0)
        found = [
            Slice(
                tracks.get((event["pid"], event["tid"]), groups.get(event["pid"], str(event["tid"]))),
                event["name"],
                event["ts"] - first,
                event.get("dur", 0.0),
            )
            for event in done
        ]
        return sorted(found, key=lambda slice: slice.start)

    def __repr__(self) -> str:
        return f"<jumar.Timeline {self.path}>"

    def _repr_html_(self) -> str:
        slices = [slice for slice in self.slices() if slice.duration > 0]
        if not slices:
            return f"<b>Timeline</b> {html.escape(str(self.path))}: nothing was done yet"
        end = max(slice.start + slice.duration for slice in slices)
        tracks = sorted({slice.track for slice in slices}, key=lambda track: (not track.startswith("device"), track))
        names = {name: index for index, name in enumerate(dict.fromkeys(slice.name for slice in slices))}
        scale = (_WIDTH - _LABEL) / max(end, 1e-9)
        height = _ROW * len(tracks) + 20
        shapes = []
        for row, track in enumerate(tracks):
            top = row * _ROW
            label = html.escape(track)
            shapes.append(f"<text x='0' y='{top + 15}' font-size='12' fill='currentColor'>{label}</text>")
            for slice in slices:
                if slice.track != track:
                    continue
                title = html.escape(f"{slice.name}: {slice.duration:.1f} µs at {slice.start:.1f} µs")
                shapes.append(
                    f"<rect x='{_LABEL + slice.start * scale:.2f}' y='{top + 2}' height='{_ROW - 4}' "
                    f"width='{max(slice.duration * scale, 0.5):.2f}' fill='{_COLOURS[names[slice.name] % len(_COLOURS)]}'>"
                    f"<title>{title}</title></rect>"
                )
        foot = f"<text x='{_LABEL}' y='{height - 4}' font-size='11' fill='currentColor'>0 to {end / 1000:.3f} ms</text>"
        return (
            f"<svg width='{_WIDTH}' height='{height}' role='img' aria-label='timeline'>{''.join(shapes)}{foot}</svg>"
            f"<div>{html.escape(str(self.path))}, for ui.perfetto.dev</div>"
        )
