"""Makes a failing call small, by its choices alone."""

import time

#: Seconds and calls that one failure may take.
SECONDS, CALLS = 3.0, 3000


def focused(choices, regions, starts, flat):
    """Yields choices for calls whose tensors begin with the element that was wrong, and have one element; some tensors and scalars may stay."""
    for chosen in (starts, starts[:-1], starts[1:], *([start] for start in starts)):
        moved = [choice + flat if at in chosen else choice for at, choice in enumerate(choices)]
        for begin, end, simplest in reversed(regions):
            moved[begin:end] = simplest
        yield moved


def shrink(choices, fails):
    """Returns the least list of choices found whose call still fails. `fails` returns the choices that were made, or `None`."""
    best, end, tried = list(choices), time.monotonic() + SECONDS, 0

    def attempt(candidate):
        nonlocal best, tried
        if tried >= CALLS or time.monotonic() > end:
            return False
        tried += 1
        made = fails(candidate)
        if made is None or (len(made), made) >= (len(best), best):
            return False
        best = made
        return True

    progress = True
    while progress and tried < CALLS and time.monotonic() < end:
        progress = False
        for size in (16, 8, 4, 2, 1):
            at = 0
            while at + size <= len(best):
                if attempt(best[:at] + best[at + size:]):
                    progress = True
                elif any(best[at:at + size]) and attempt(best[:at] + [0] * size + best[at + size:]):
                    progress = True
                else:
                    at += 1 if size < 4 else size
        for at in range(len(best)):
            low = 0
            while at < len(best) and low < best[at]:
                middle = (low + best[at]) // 2
                if attempt(best[:at] + [middle] + best[at + 1:]):
                    progress = True
                else:
                    low = middle + 1
    return best
