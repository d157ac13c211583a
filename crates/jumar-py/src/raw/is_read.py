"""Whether the caller of a function of this module uses the code in the result. Only clear cases count as unused."""

import dis
import sys

#: Functions that may read a variable by its name.
_BY_NAME = {"locals", "vars", "eval", "exec", "globals", "dir"}


def _names(step):
    """Returns the variables that an instruction names: one, or two where instructions were joined."""
    return list(step.argval) if isinstance(step.argval, tuple) else [step.argval]


def _is_loaded(name, code):
    """Returns whether a code, or one inside it, may read a variable."""
    if _BY_NAME & set(code.co_names):
        return True
    for step in dis.get_instructions(code):
        if "LOAD" in step.opname and name in _names(step):
            return True
    inner = (one for one in code.co_consts if hasattr(one, "co_code"))
    return any(_is_loaded(name, one) for one in inner)


def is_read(count):
    """Looks at the caller. ``count`` is the length of the tuple that it gets, whose last element is the code; 0: the result is the code."""
    frame = sys._getframe(1)
    if frame.f_globals.get("__name__", "").split(".")[0] == "jumar":
        # The package raises what it does not expect.
        return True
    code = frame.f_code
    steps = list(dis.get_instructions(code))
    at = next((index for index, step in enumerate(steps) if step.offset == frame.f_lasti), None)
    if at is None:
        return True
    rest = [step for step in steps[at + 1 :] if step.opname not in ("CACHE", "NOT_TAKEN", "NOP")]
    if not rest:
        return True
    if rest[0].opname == "POP_TOP":
        return False
    if count and rest[0].opname.startswith("LOAD_") and isinstance(rest[0].argval, int) and len(rest) > 1:
        # ``f()[0]``: an element that is not the last one.
        is_element = rest[1].opname == "BINARY_SUBSCR" or rest[1].argrepr == "[]"
        return not (is_element and -count <= rest[0].argval < count and rest[0].argval % count != count - 1)
    stored = []
    if count and rest[0].opname == "UNPACK_SEQUENCE":
        rest = rest[1:]
    elif count:
        return True
    for step in rest:
        if len(stored) >= max(count, 1) or not step.opname.startswith("STORE_FAST"):
            break
        stored += _names(step)
    if len(stored) < max(count, 1):
        return True
    return _is_loaded(stored[max(count, 1) - 1], code)
