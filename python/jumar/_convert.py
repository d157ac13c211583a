"""From ``.onnx`` to ``.om``: the conversion, and the folder in which converted models are kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Optional

import acl

from . import _onnx, _tree
from ._errors import Error
from ._runtime import ensure_context

#: How much the kept models may take together, in bytes, and how long one that is not loaded is kept, in seconds.
_MOST, _LONGEST = 16 << 30, 60 * 24 * 3600
#: How old an unfinished conversion of another process has to be before it is taken for abandoned, in seconds.
_ABANDONED = 24 * 3600

Shapes = Mapping[str, Sequence[int]]


class ConversionError(Error, ValueError):
    """A model could not be converted; the text is what ``atc`` reported."""

    def __init__(self, text: str) -> None:
        super().__init__("atc", 0, text)
        # All of it: several operators may be missing.
        self.args = (text,)

    def __reduce__(self) -> tuple[object, ...]:
        return ConversionError, self.args


def _text(shapes: Shapes) -> str:
    return ";".join(f"{name}:{','.join(str(int(dim)) for dim in dims)}" for name, dims in sorted(shapes.items()))


def _digest(path: Path, shapes: Shapes) -> str:
    """Returns a digest of everything that decides what a conversion makes: the converter, the options, and all bytes that it reads."""
    digest = hashlib.sha256()
    library = (_tree.prefix() / "lib64" / "libascendcl.so").stat()
    digest.update(f"{library.st_size} {library.st_mtime_ns} {_text(shapes)}\0".encode())
    for part in (path, *_onnx.external_files(path)):
        digest.update(f"{part.name}\0".encode())
        # A file that is missing, or not regular, is refused by the conversion, which names the tensor that wants it.
        if part.is_file():
            with part.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        digest.update(b"\0")
    return digest.hexdigest()[:24]


def _folder() -> Optional[Path]:
    """Returns the folder for converted models; none where it cannot be written."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jumar"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder):
            return folder
    except OSError:
        return None


@contextlib.contextmanager
def converted(path: Path, shapes: Shapes, progress: Optional[bool]) -> Iterator[Path]:
    """Converts a model, unless it was converted before, and yields the ``.om`` file, which stays until the block ends at least.

    Raises:
        ConversionError: the model cannot be converted, or changed while it was.
    """
    kept: Optional[Path] = None
    digest = _digest(path, shapes)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jumar"
    kept = cache / f"{path.stem}-{digest}.om"
    with contextlib.suppress(OSError):
        # The time of the last use, for the clean-up. The time of the last change stays: a process that uses the file compares it.
        os.utime(kept, ns=(time.time_ns(), kept.stat().st_mtime_ns))
    if kept.is_file():
        yield kept
        return
    folder = _folder()
    with tempfile.TemporaryDirectory(dir=folder, prefix="converting-") as temporary:
        made = Path(temporary) / f"{path.stem}.om"
        _run(path, made, shapes, progress)
        if _digest(path, shapes) != digest:
            raise ConversionError(f"{path} or one of its weight files changed while it was converted; load it again")
        if folder is None:
            yield made
            return
        made.replace(kept)
    _clean(folder, kept)
    yield kept


def _run(path: Path, made: Path, shapes: Shapes, progress: Optional[bool]) -> None:
    ensure_context()
    command = [
        str(_tree.command("jumar")),
        "atc",
        f"--model={path}",
        "--framework=5",
        f"--output={made}",
        f"--soc_version={acl.get_soc_name()}",
        "--open_dims=keep",
    ]
    if shapes:
        command.append(f"--input_shape={_text(shapes)}")
    with Progress(f"converting {path.name}", progress):
        done = subprocess.run(command, capture_output=True, text=True, env=_tree.environment(), check=False)
    if done.returncode:
        reported = [line for line in done.stderr.splitlines() if line.strip()]
        text = "\n".join(reported).strip().removeprefix("error: ")
        raise ConversionError(text or f"atc ended with {done.returncode}")


def _clean(folder: Path, newest: Path) -> None:
    """Deletes models that were not loaded for long, then the least recently loaded ones, until the others fit."""
    entries = []
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):
            data = entry.stat()
            if entry.suffix == ".om":
                entries.append((data.st_atime, data.st_size, entry))
            elif entry.name.startswith("converting-") and time.time() - data.st_mtime > _ABANDONED:
                for part in entry.iterdir():
                    part.unlink()
                entry.rmdir()
    left = sum(size for _, size, _ in entries)
    for used, size, entry in sorted(entries):
        if entry != newest and (left > _MOST or time.time() - used > _LONGEST):
            # A process that has loaded the file keeps its contents.
            with contextlib.suppress(OSError):
                entry.unlink()
                left -= size


class Progress:
    """A line on standard error while work takes longer than a second."""

    def __init__(self, what: str, wanted: Optional[bool]) -> None:
        self._what = what
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._done = threading.Event()
        self._shown = False

    def _show(self) -> None:
        start = time.monotonic()
        while not self._done.wait(1.0 if not self._shown else 0.25):
            self._shown = True
            print(f"\r{self._what} ... {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> None:
        if self._wanted:
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._wanted:
            self._thread.join()
            if self._shown:
                print(file=sys.stderr)
