"""Makes the images of README.md from real runs: a finding of `jumar check`, and a part of a timeline.

    python3 docs/images/make.py [TREE]     with an install tree of a release; by default target/jumar

The program of the finding is that of docs/tutorial-check.md; the timeline is that of examples/digits/streams.c.
"""

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TREE = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "target/jumar"
FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
DARK, LIGHT, GREY, RED, BLUE, GREEN = "#0d1117", "#e6edf3", "#8b949e", "#ff7b72", "#79c0ff", "#7ee787"
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#72b7b2", "#9d755d")


def compiled(source, folder):
    app = folder / source.stem
    command = ["cc", "-g", source, "-o", app, "-I", TREE / "include", "-L", TREE / "lib64", "-lascendcl"]
    subprocess.run(command, check=True)
    return app


def document(width, height, shapes, description):
    # Shapes without a colour of their own are text on the dark ground.
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    ground = f'<title>{html.escape(description)}</title>\n<rect width="{width}" height="{height}" rx="6" fill="{DARK}"/>'
    return "\n".join([head, ground, *shapes, "</svg>", ""])


def text(x, y, content, colour=LIGHT, size=13):
    # Viewers drop blanks at the beginning; in between, these are kept.
    indent = len(content) - len(content.lstrip())
    x += round(indent * 0.602 * size, 1)
    content = html.escape(content.strip()).replace(" ", "\u00a0")
    return f'<text x="{x}" y="{y}" font-family="{FONT}" font-size="{size}" fill="{colour}">{content}</text>'


def finding(folder):
    tutorial = (ROOT / "docs/tutorial-check.md").read_text()
    source = folder / "race.c"
    source.write_text(re.search(r"```c\n(.*?)```", tutorial, re.DOTALL)[1])
    app = compiled(source, folder)
    command = [TREE / "bin/jumar", "check", "--rules", "JMR-SYNC-002", "--", f"./{app.name}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    printed = done.stderr.splitlines()
    lines = ["$ jumar check -- ./race", *done.stdout.splitlines(), *(line for line in printed if not line.startswith("  replay"))]
    shapes = []
    for number, line in enumerate(lines):
        y = 26 + 19 * number
        colour = LIGHT
        if line.startswith("JMR-"):
            colour = RED
        elif line.startswith("  fix") or line.startswith("  missing"):
            colour = GREEN
        elif re.match(r"  \w+ +\S+:\d+", line):
            colour = BLUE
        elif line.startswith("$") or line.startswith("jumar check"):
            colour = GREY
        shapes.append(text(16, y, line, colour))
    width = 32 + 8 * max(map(len, lines))
    return document(width, 40 + 19 * (len(lines) - 1), shapes, "A finding of jumar check: two streams use a buffer without an order")


def outer(slices):
    """The slices that lie in no other one of their row: a model, and not its operators."""
    ends, kept = {}, []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        row = event["pid"], event["tid"]
        if event["ts"] + event["dur"] > ends.get(row, -1):
            ends[row] = event["ts"] + event["dur"]
            kept.append(event)
    return kept


def timeline(folder):
    digits = ROOT / "examples/digits"
    app = compiled(digits / "streams.c", folder)
    trace = folder / "trace.json"
    subprocess.run(
        [TREE / "bin/atc", "--framework=5", f"--model={digits / 'digits.onnx'}", "--output=digits", "--soc_version=Ascend910B1"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    run = [TREE / "bin/jumar", "run", "--trace", trace, "--", app, "digits.om", digits / "images.u8", digits / "labels.u8"]
    subprocess.run(run, cwd=folder, check=True, capture_output=True)
    events = json.loads(trace.read_text())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) in names]
    slices = outer(slices)
    # Around an event in the middle of the run: the first slices are those of a cold start.
    records = sorted(e["ts"] for e in events if e["ph"] == "s" and e.get("cat") == "event")
    first = records[len(records) // 2] - 300
    last = first + 1500
    scale, left, row = 760 / (last - first), 170, 34
    rows = sorted({(e["pid"], e["tid"]) for e in slices}, key=lambda key: (names[key].startswith("device"), names[key]))
    colours, shapes = {}, []
    middle = {key: 30 + row * at + 11 for at, key in enumerate(rows)}
    for key in rows:
        shapes.append(text(14, middle[key] + 4, names[key], LIGHT, 12))
    for event in sorted(slices, key=lambda e: e["ts"]):
        begin, end = max(event["ts"], first), min(event["ts"] + event["dur"], last)
        if begin >= end:
            continue
        x, width = left + (begin - first) * scale, max((end - begin) * scale, 1)
        colour = colours.setdefault(event["name"].split(" ")[0], COLOURS[len(colours) % len(COLOURS)])
        y = middle[event["pid"], event["tid"]] - 11
        shapes.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="22" rx="2" fill="{colour}"/>')
        letters = int(width / 6.3)
        if letters >= 4:
            name = event["name"] if len(event["name"]) <= letters else event["name"][: letters - 1] + "…"
            shapes.append(text(round(x + 3, 1), y + 15, name, "#ffffff", 10))
    starts = {e["id"]: e for e in events if e["ph"] == "s" and e.get("cat") == "event"}
    for end in (e for e in events if e["ph"] == "f" and e["id"] in starts and e.get("cat") == "event"):
        begin = starts[end["id"]]
        if not (first <= begin["ts"] <= last and first <= end["ts"] <= last):
            continue
        (x1, y1), (x2, y2) = ((left + (e["ts"] - first) * scale, middle[e["pid"], e["tid"]]) for e in (begin, end))
        shapes.append(f'<path d="M{x1:.1f} {y1} C{x1 + 20:.1f} {y1} {x2 - 20:.1f} {y2} {x2:.1f} {y2}" fill="none" stroke="{RED}"/>')
    height = 30 + row * len(rows) + 22
    shapes.append(text(left, height - 10, f"{(last - first) / 1000:.2f} ms of examples/digits/streams.c", GREY, 11))
    return document(left + 760 + 16, height, shapes, "A timeline: calls of the program, and the tasks of its streams")


def main():
    with tempfile.TemporaryDirectory() as folder:
        (HERE / "finding.svg").write_text(finding(Path(folder)))
        (HERE / "timeline.svg").write_text(timeline(Path(folder)))


if __name__ == "__main__":
    main()
