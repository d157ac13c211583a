"""The page of a timeline in a browser: zoom, search, the row of a stream, the flow of an event, the mark of a finding, and size.

Where there is no browser the tests are skipped; `apt-get install chromium` makes one, or JUMAR_BROWSER names it.
"""

import os
import pathlib
import subprocess
import sys

import browser
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))

from install import LIB64, PREFIX, ROOT, compile_c, environment, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parents[1] / "diag"
JUMAR = PREFIX / "bin/jumar"
PATH = browser.find()
needs_browser = pytest.mark.skipif(PATH is None, reason="no browser: apt-get install chromium, or JUMAR_BROWSER")

# Bounds on a machine that does other things as well, in milliseconds.
LOAD_MS, STEP_MS = 15_000, 400


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a program with two streams, an event between them, a pageable copy and a race."""
    folder = tmp_path_factory.mktemp("page")
    app = compile_c(HERE / "programs/page.c", folder / "page", "-g", "-L", LIB64, "-lascendcl")
    done = subprocess.run(
        [JUMAR, "check", "--trace", folder / "run.html", "--", app],
        env=environment(), capture_output=True, text=True, timeout=60,
    )
    assert "JMR-SYNC-002" in done.stderr, done.stderr
    if PATH is None:
        yield None
        return
    opened = browser.Page(PATH, (folder / "run.html").as_uri())
    opened.file = folder / "run.html"
    yield opened
    opened.close()


def on_screen(page, what):
    """Returns the screen position of a point of the chart; `what` is its expression."""
    box = "document.getElementById('canvas').getBoundingClientRect()"
    return page.run(f"(() => {{ const b = {box}, p = {what}; return [b.left + p[0], b.top + p[1]]; }})()")


def away_from_flows(page, slice_, below):
    """Returns the point near the middle of a slice, as far below it as one of some numbers of pixels, that is farthest from every flow:
    flows receive a click within a few pixels first."""
    return on_screen(page, f"""(() => {{
        const [x, y] = timeline.position({slice_}), flows = timeline.hot().filter(h => h.kind === "flow").map(h => h.points);
        const toSegment = ([px, py], [ax, ay], [bx, by]) => {{
            const length = (bx - ax) ** 2 + (by - ay) ** 2;
            const part = length ? Math.max(0, Math.min(1, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length)) : 0;
            return Math.hypot(ax + part * (bx - ax) - px, ay + part * (by - ay) - py);
        }};
        const far = p => Math.min(1e9, ...flows.flatMap(points => points.slice(1).map((to, n) => toSegment(p, points[n], to))));
        const candidates = {list(below)}.flatMap(down => [...Array(21).keys()].map(n => [x + 5 * (n - 10), y + down]));
        return candidates.reduce((best, p) => far(p) > far(best) ? p : best);
    }})()""")


def detail(page):
    return page.run("document.getElementById('detail').textContent")


def whole(page):
    page.run("document.getElementById('all').click()")
    page.wait_for_frame()


def keep(page, name):
    folder = os.environ.get("JUMAR_SCREENSHOTS")
    if folder:
        page.screenshot(pathlib.Path(folder) / f"{name}.png")


@needs_browser
def test_the_summaries_say_what_the_program_did(page):
    keep(page, "whole")
    assert page.errors == []
    text = {
        name: page.run(f"document.getElementById('{name}').textContent")
        for name in ("streams", "work", "copies", "waits", "silent", "gaps", "findings", "title")
    }
    assert "stream 1" in text["streams"] and "stream 2" in text["streams"]
    assert "fill" in text["work"] and "record event" in text["work"]
    assert "host to device" in text["copies"] and "device to device" in text["copies"]
    assert "aclrtSynchronizeStream" in text["waits"]
    assert "aclrtMemcpyAsync" in text["silent"], "the pageable copy"
    assert "JMR-SYNC-002" in text["findings"] and "page.c:" in text["findings"]
    # The plot of memory is drawn: some of its pixels have a colour.
    assert page.run(
        "(() => { const c = document.getElementById('memory'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i + 3] && Math.abs(d[i] - d[i + 2]) > 40) n++; return n; })()"
    ) > 50


@needs_browser
def test_the_wheel_zooms_at_the_pointer_and_dragging_moves(page):
    whole(page)
    before = page.run("timeline.view()")
    x, y = on_screen(page, "[700, 40]")
    under = page.run(f"timeline.view()[0] + ({x} - 176) / (document.getElementById('chart').clientWidth - 176) * (timeline.view()[1] - timeline.view()[0])")
    for _ in range(6):
        page.wheel(x, y, -120)
    after = page.run("timeline.view()")
    assert (after[1] - after[0]) < 0.3 * (before[1] - before[0])
    still = page.run(f"timeline.view()[0] + ({x} - 176) / (document.getElementById('chart').clientWidth - 176) * (timeline.view()[1] - timeline.view()[0])")
    assert abs(still - under) < 0.02 * (before[1] - before[0])
    page.drag(x, y, x - 150)
    moved = page.run("timeline.view()")
    assert moved[0] > after[0] and abs((moved[1] - moved[0]) - (after[1] - after[0])) < 1e-6 * (before[1] - before[0])
    page.run("document.getElementById('out').click()")
    page.wait_for_frame()
    wider = page.run("timeline.view()")
    assert (wider[1] - wider[0]) > 1.5 * (moved[1] - moved[0])


@needs_browser
def test_search_goes_from_hit_to_hit(page):
    whole(page)
    page.run("document.getElementById('search').focus()")
    page.type("fill")
    count = int(page.run("document.getElementById('hits').textContent").split()[0])
    assert count >= 2
    page.key("Enter")
    assert page.run("document.getElementById('hits').textContent") == f"1 of {count}"
    first = page.run("timeline.slices.indexOf(timeline.selected().slice)")
    assert "fill" in detail(page)
    page.key("Enter")
    assert page.run("document.getElementById('hits').textContent") == f"2 of {count}"
    assert page.run("timeline.slices.indexOf(timeline.selected().slice)") != first
    keep(page, "search")
    page.run("(() => { const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); s.blur(); })()")


@needs_browser
def test_a_click_on_a_slice_and_on_the_name_of_a_row(page):
    whole(page)
    find = "timeline.slices.find(s => /^fill/.test(s.name) && s.args.bytes > 1e6)"
    page.run(f"(() => {{ const s = {find}, d = s.end - s.ts; timeline.setView(s.ts - d, s.end + d); return 0; }})()")
    page.wait_for_frame()
    x, y = on_screen(page, f"timeline.position({find})")
    page.click(x, y)
    assert "fill" in detail(page) and "ticket" in detail(page) and "aclrtMemsetAsync" in detail(page)
    row = page.run(f"timeline.position({find})[1]")
    x, y = on_screen(page, f"[40, {row}]")
    page.click(x, y)
    assert "stream" in detail(page) and "of the run" in detail(page)
    assert "of device" in page.run("document.getElementById('scope').textContent")
    keep(page, "row")


@needs_browser
def test_a_click_on_the_flow_of_an_event(page):
    whole(page)
    # Zoomed in until the flow is apart from others.
    page.run("(() => { const a = timeline.flowEvents[0], d = 4 * Math.max(1, a.to.ts - a.from.ts); timeline.setView(a.from.ts - d, a.to.ts + d); return 0; })()")
    page.wait_for_frame()
    x, y = on_screen(page, "timeline.hot().find(h => h.kind === 'flow' && h.flow === timeline.flowEvents[0]).points[6]")
    page.click(x, y)
    assert page.run("!!(timeline.selected() && timeline.selected().flow)"), detail(page)
    assert "record to wait" in detail(page) and "record event" in detail(page)
    keep(page, "flow")


@needs_browser
def test_a_click_on_the_mark_of_a_finding(page):
    whole(page)
    page.run("document.getElementById('chart').scrollTop = 0")
    x, y = on_screen(page, "(() => { const m = timeline.hot().find(h => h.kind === 'mark'); return [m.x, m.y]; })()")
    page.click(x, y)
    assert page.run("document.querySelectorAll('.finding.selected').length") == 1
    assert "JMR-SYNC-002" in page.run("document.querySelector('.finding.selected').textContent")
    assert "JMR-SYNC-002" in detail(page), "the slice names its finding"
    keep(page, "finding")
    # And from the list to the chart.
    whole(page)
    page.run("document.querySelector('.finding').click()")
    page.wait_for_frame()
    assert page.run("!!timeline.selected().slice.marks")


@needs_browser
def test_the_operators_of_a_model_are_slices_in_its_executions_and_a_table(tmp_path):
    digits = ROOT / "examples/digits"
    atc = [PREFIX / "bin/atc", "--framework=5", f"--model={digits}/digits.onnx", "--soc_version=Ascend910B1"]
    run(*atc, f"--output={tmp_path}/digits", env=environment())
    app = compile_c(digits / "streams.c", tmp_path / "streams", "-L", LIB64, "-lascendcl")
    target = tmp_path / "run.html"
    run(JUMAR, "run", "--trace", target, "--", app, tmp_path / "digits.om", digits / "images.u8", digits / "labels.u8")
    page = browser.Page(PATH, target.as_uri())
    try:
        # The program is called "streams", and its thread is none.
        assert page.run("document.querySelectorAll('#streams tr.go').length") == 2
        rows = page.run("[...document.querySelectorAll('#operators tr.go')].map(r => [...r.cells].map(c => c.textContent))")
        assert any("Conv" in cells[0] for cells in rows) and any("MatMul" in cells[0] for cells in rows), rows
        assert sum(int(cells[1]) for cells in rows) == page.run("timeline.inner.length")
        runs = page.run("timeline.slices.filter(s => s.name === 'digits').length")
        assert runs == 320 and page.run("timeline.inner.length") % runs == 0
        find = "timeline.inner.find(s => /Conv/.test(s.name))"
        page.run(f"(() => {{ const s = {find}, d = s.end - s.ts; timeline.setView(s.ts - d, s.end + d); return 0; }})()")
        page.wait_for_frame()
        page.click(*away_from_flows(page, find, (5, 6, 8)))
        assert "Conv" in detail(page) and "node" in detail(page)
        keep(page, "operators")
        # Above the strip is the execution itself.
        page.click(*away_from_flows(page, find, (-7, -4, -1)))
        assert "aclmdlExecuteAsync" in detail(page)
        assert page.errors == []
    finally:
        page.close()


@needs_browser
def test_a_hundred_thousand_tasks_stay_usable(tmp_path):
    app = compile_c(HERE / "programs/many_tasks.c", tmp_path / "many", "-L", LIB64, "-lascendcl")
    target = tmp_path / "many.html"
    run(JUMAR, "run", "--trace", target, "--", app, timeout=240)
    page = browser.Page(PATH, target.as_uri())
    try:
        tasks = page.run("timeline.slices.filter(s => /^fill/.test(s.name)).length")
        assert tasks >= 100_000
        load = page.run("timeline.load")
        steps = []
        x, y = on_screen(page, "[600, 60]")
        for delta in [-120] * 12 + [120] * 12:
            page.wheel(x, y, delta)
            steps.append(page.run("timeline.step"))
        began = page.run("performance.now()")
        page.run("document.getElementById('search').focus()")
        page.type("fill")
        page.key("Enter")
        search = page.run("performance.now()") - began
        keep(page, "many")
        print(
            f"page: {tasks} tasks, {target.stat().st_size / 1e6:.0f} MB, loaded in {load:.0f} ms, a zoom step takes "
            f"{sorted(steps)[len(steps) // 2]:.0f} ms (at most {max(steps):.0f}), a search {search:.0f} ms"
        )
        assert load < LOAD_MS
        assert max(steps) < STEP_MS
        assert page.errors == []
    finally:
        page.close()
