"""Makes calls of single operators, runs them through the C interface of an install tree, and compares with NumPy in double precision.

    run.py [--seconds N | --calls N] [--seed N] [--family WORD] [--operator NAME] [--processes N] [--call N] [--large] [--spoil] [--page]

Each call follows from the seed and its number. A failing call is made smaller while it fails, and printed as a Python call that repeats it.
`--family` takes a part of a family's name, or of the source file that computes it. `--page` writes docs/generated-calls.md.
"""

import argparse
import collections
import faulthandler
import multiprocessing
import os
import pathlib
import queue
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402

import drawn  # noqa: E402
import families  # noqa: E402
import misfits  # noqa: E402
import page  # noqa: E402
from device import ARENA, LARGE_ARENA, Device, computed  # noqa: E402
from maker import Call, Draws, Values  # noqa: E402
from shrink import focused, shrink  # noqa: E402
from written import written  # noqa: E402

#: Seconds without the end of a call after which a process counts as stuck, and failures of one operator that are made small.
PATIENCE, EACH = 60, 3
#: How often a call is drawn until its types are ones that the interface lists.
TRIES = 30
#: Of 100 calls, those in which an argument is spoiled: they have to be refused.
MISFITS = 3
#: Changes of each valid call that the first phase has to refuse.
CHANGES = 2
#: How often a change is drawn until one changes the call.
PICKS = 5
#: Calls that confirm that a change is not refused any more.
CONFIRMING = 16
#: Calls with the same types of tensors that all have to show it where most others do not.
ALIKE = 4
#: Calls that one process makes before it looks at the clock.
TURN = 50


class Maker:
    """Makes and runs calls on a device."""

    def __init__(self, seed, chosen, large=False):
        self.seed, self.values, self.device = seed, Values(seed), Device(LARGE_ARENA if large else ARENA)
        # Shows the first process that this one is not stuck.
        self.beat = lambda: None
        self.refused, self.without, self.judged = {} if large else misfits.read(), {}, {}
        self.rows = [(family, operator, make) for family in chosen for operator, make in family.makers.items()]

    def made(self, draws):
        """Builds a call from choices."""
        family, operator, make = self.rows[draws.below(len(self.rows))]
        for _ in range(TRIES):
            call = Call(self.device, self.values, draws, operator)
            make(call)
            if call.accepted():
                if not call.expected and draws.chance(MISFITS):
                    call.misfit()
                elif not call.expected:
                    call.lighten(self.needed(operator))
                break
        return call

    def needed(self, operator):
        """The arguments without which the first phase refuses every call."""
        if operator not in self.without:
            self.without[operator] = {name for name, word, _ in self.refused.get(operator, ()) if word == "null"}
        return self.without[operator]

    def valid(self, operator, make, seed):
        """Makes a valid call of an operator, or `None`."""
        for attempt in range(TRIES):
            call = Call(self.device, self.values, Draws(seed << 8 | attempt), operator)
            make(call)
            if call.accepted() and not call.expected:
                return call
        return None

    def run(self, draws):
        """Makes a call and runs it; then changes of it that the first phase has to refuse."""
        call = self.made(draws)
        problem = self.device.run(call.operator, call.given, call.expected)
        if problem and problem[0] == "refused" and call.left is not None:
            # Some forms of the operator need this output.
            return call, None
        listed = () if problem or call.expected else self.refused.get(call.operator, ())
        for _ in range(CHANGES if listed else 0):
            for _ in range(PICKS):
                name, word, status = listed[draws.below(len(listed))]
                given = misfits.changed(call, name, word, draws.below(4) if word.endswith(" tied") else 0)
                if given is not None:
                    break
            else:
                continue
            found = self.device.first(call.operator, given)
            if found != status and self.confirmed(draws.made[0], name, word, status, call):
                call.given = given
                return call, ("accepted" if found == 0 else "status", f"{name}: {word}: the first phase returned {found}, and not {status}")
        return call, problem

    def confirmed(self, row, name, word, status, call):
        """Reports whether a change is mostly not refused any more: what few calls in a thousand show is a change that fits at times, and not a lost check."""
        _, operator, make = self.rows[row]
        own = misfits.types_of(call)
        key = (operator, name, word, own)
        if key not in self.judged:
            other, alike, seed = [], [], 0
            while (len(other) < CONFIRMING or " if " in word and len(alike) < ALIKE) and seed < 40 * CONFIRMING:
                made = self.valid(operator, make, seed)
                answer = made and misfits.answer(self, made, name, word)
                if answer:
                    other.append(answer[0] != status)
                    if misfits.types_of(made) == own:
                        alike.append(answer[0] != status)
                seed += 1
            # Also a check of some types alone may be lost.
            self.judged[key] = sum(other) * 2 > len(other) or " if " in word and len(alike) >= ALIKE and all(alike)
        return self.judged[key]

    def small(self, choices, operator, kind):
        """Shrinks a failing call; the choice of the operator stays."""
        def fails(candidate):
            self.beat()
            draws = Draws(0, candidate)
            try:
                call, problem = self.run(draws)
            except Exception:  # a list of choices that makes no call
                return None
            return draws.made if problem and problem[0] == kind and call.operator == operator else None

        choices = shrink(choices, fails)
        for _ in range(3):
            call, problem = self.run(Draws(0, choices))
            flat = getattr(problem[1], "flat", None) if problem else None
            made = flat and next(filter(None, map(fails, focused(choices, call.regions, call.starts, flat))), None)
            if not made:
                break
            choices = shrink(made, fails)
        return *self.run(Draws(0, choices)), choices


def work(index, processes, options, chosen, until, progress, beats, answers):
    """One process: every `processes`-th call."""
    faulthandler.enable()
    np.seterr(all="ignore")
    maker = Maker(options.seed, chosen, options.large)
    maker.device.spoil = options.spoil

    def beat():
        beats[index] += 1

    maker.beat = beat
    counts, seen, failures = collections.Counter(), collections.Counter(), []
    number, done = (options.call or 0) + index, 0
    while (options.calls is None or number < options.calls) and (options.calls is not None or time.monotonic() < until):
        for _ in range(TURN):
            if options.calls is not None and number >= options.calls:
                break
            progress[index] = number
            beat()
            draws = Draws(options.seed << 32 | number)
            try:
                call, problem = maker.run(draws)
            except Exception:
                problem, call = ("generator", traceback.format_exc()), None
            done += 1
            operator = call.operator if call else maker.rows[draws.made[0]][1]
            counts[operator] += 1
            if call and not problem:
                for feature in call.features:
                    seen[operator, feature] += 1
            if problem:
                key = (operator, problem[0])
                if options.spoil:
                    counts[key] += 1
                elif counts[key] < EACH:
                    counts[key] += 1
                    # A plain text: what is wrong may be of a type that another process cannot make.
                    text, size, form = str(problem[1]), None, ""
                    if call and not options.large:
                        small, what, choices = maker.small(draws.made, operator, problem[0])
                        if what:
                            text, size, form = what[1] + "\n" + written(small), len(choices), " ".join(sorted(small.given))
                    failures.append((operator, problem[0], number, text, size, form))
                else:
                    counts[key] += 1
            number += processes
        if options.call is not None and options.calls is None:
            break
    progress[index] = -1
    maker.device.close()
    answers.put((index, done, {key: value for key, value in counts.items()}, dict(seen), failures))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--calls", type=int)
    parser.add_argument("--call", type=int, help="the number of one call, or with --calls of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", default="")
    parser.add_argument("--operator", default="")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--large", action="store_true", help="only calls with tensors of more than 2^24 elements")
    parser.add_argument("--spoil", action="store_true", help="change an element of each result, and name the operators of which that is never found")
    parser.add_argument("--page", action="store_true", help="write docs/generated-calls.md")
    parser.add_argument("--drawn", action="store_true", help="print the values that the arguments of each operator are drawn with, and what is never drawn")
    parser.add_argument("--misfits", action="store_true", help="write tests/calls/misfits.txt from what the engine refuses")
    parser.add_argument("--conditions", action="store_true", help="with --misfits: only the changes that depend on other arguments")
    parser.add_argument("--check-page", action="store_true", help="fail if docs/generated-calls.md names other operators")
    options = parser.parse_args()
    # Calls that have to be refused would fill the log.
    os.environ.setdefault("ASCEND_GLOBAL_LOG_LEVEL", "4")
    known = computed()
    all_families = families.load(known, options.large)
    if options.page or options.check_page:
        return page.main(all_families, known, options)
    chosen = [family for family in all_families if options.family in family.name or options.family in family.part]
    if options.operator:
        for family in chosen:
            family.makers = {name: make for name, make in family.makers.items() if name in (options.operator, f"aclnn{options.operator}")}
    operators = sum(len(family.makers) for family in chosen)
    if not operators:
        print("no operator has this name")
        return 2
    if options.drawn:
        return drawn.main(chosen)
    if options.misfits:
        return observe(options, chosen)
    if options.call is not None and options.calls is None:
        options.calls, options.processes = options.call + 1, 1
    print(f"calls: seed {options.seed}, {operators} operators", flush=True)
    outcome = together(options, chosen)
    return report(options, outcome, operators)


def observed(index, options, chosen, answers):
    """One process: what the engine refuses of every `processes`-th operator."""
    faulthandler.enable()
    np.seterr(all="ignore")
    maker = Maker(options.seed, chosen)
    for number, (_, operator, make) in enumerate(maker.rows):
        if number % options.processes == index:
            params, further = maker.device.prototypes[operator], misfits.dependent(maker, operator, make)
            if options.conditions:
                answers.put((operator, misfits.merged(operator, params, further)))
            else:
                answers.put((operator, misfits.text(operator, misfits.observed(maker, operator, make), params, further)))
    maker.device.close()
    answers.put((None, index))


def observe(options, chosen):
    """Writes the list of changes that are refused; what it has of other operators stays."""
    context = multiprocessing.get_context("fork")
    answers, found, left = context.Queue(), {}, options.processes
    workers = [context.Process(target=observed, args=(index, options, chosen, answers)) for index in range(options.processes)]
    for worker in workers:
        worker.start()
    while left:
        try:
            operator, lines = answers.get(timeout=1)
        except queue.Empty:
            if all(worker.exitcode is not None for worker in workers):
                print("a process ended before its operators")
                return 1
            continue
        if operator is None:
            left -= 1
        else:
            found[operator] = lines
    for worker in workers:
        worker.join(5)
    misfits.write(found)
    return 0


def together(options, chosen):
    """Runs the processes, and sees to it that none is stuck or dies unseen."""
    context = multiprocessing.get_context("fork")
    progress, beats, answers = context.Array("q", [-1] * options.processes, lock=False), context.Array("q", [0] * options.processes, lock=False), context.Queue()
    until = time.monotonic() + options.seconds
    workers = [context.Process(target=work, args=(index, options.processes, options, chosen, until, progress, beats, answers)) for index in range(options.processes)]
    for worker in workers:
        worker.start()
    results, last, moved = [], [None] * len(workers), [time.monotonic()] * len(workers)
    waiting = set(range(len(workers)))
    while waiting:
        try:
            results.append(answers.get(timeout=0.5))
            waiting.discard(results[-1][0])
            continue
        except Exception:  # nothing yet
            pass
        for index in list(waiting):
            now = time.monotonic()
            if beats[index] != last[index]:
                last[index], moved[index] = beats[index], now
            died = workers[index].exitcode is not None and answers.empty()
            if died or now - moved[index] > PATIENCE:
                what = f"the process ended with {workers[index].exitcode}" if died else f"the call took more than {PATIENCE} s"
                if died and workers[index].exitcode == 0 and now - moved[index] < PATIENCE:
                    # Its answer is on the way.
                    continue
                workers[index].kill()
                results.append((index, 0, {}, {}, [("?", "crash" if died else "hang", progress[index], what, None, "")]))
                waiting.discard(index)
    for worker in workers:
        worker.join(5)
    return results


def known_faults():
    """Reads the faults that are known: operator and kind of failure."""
    lines = (HERE / "known.txt").read_text().splitlines()
    return {tuple(line.partition(":")[0].split(" ", 1)) for line in lines if line and not line.startswith("#")}


def report(options, results, operators):
    failures = [failure for result in results for failure in result[4]]
    done = sum(result[1] for result in results)
    counts = collections.Counter()
    for result in results:
        counts.update(result[2])
    shown, faults, known = set(), known_faults(), collections.Counter()
    for operator, kind, number, text, _, form in sorted(failures, key=lambda one: (one[0], one[1], one[4] or 0)):
        if (operator, kind) in faults:
            known[operator] = counts[operator, kind]
            continue
        # Of failures with the same arguments the smallest.
        if (operator, kind, form) in shown:
            continue
        shown.add((operator, kind, form))
        print(f"\n{operator}: {kind}, {counts[operator, kind]} of {counts[operator]} calls; again: --seed {options.seed} --call {number}"
              + (f" --family '{options.family}'" if options.family else "") + (f" --operator {options.operator}" if options.operator else ""))
        print("  " + text.replace("\n", "\n  "))
    if options.spoil:
        names = sorted(key for key in counts if isinstance(key, str) and not counts[key, "values"])
        print(f"spoiled results of {len(names)} operators were never found: {' '.join(names)}")
        return 1 if names else 0
    reached = sum(1 for key in counts if isinstance(key, str))
    print(f"{done} calls of {reached} of {operators} operators, seed {options.seed}, {len(shown)} kinds of failures" + (f", {len(known)} operators with known faults" if known else ""))
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main())
