"""Failures as exceptions: what happened, its code, and what to do about it."""

from __future__ import annotations

import builtins
from typing import Optional

import acl

#: An error as the library describes it: the C function, the name of the code, the sentence, what to do, and the object.
_Details = tuple[str, str, str, str, str]
#: Absent from another library's ``acl``.
_last_error = getattr(acl, "_last_error", None)


class Error(RuntimeError):
    """A call of the runtime failed.

    Attributes:
        code: the number that a C program gets, for example 107017.
        kind: its name, for example ``ACL_ERROR_RT_INVALID_HANDLE``; empty when the runtime did not describe the error.
        sentence: what failed, with the values found and expected.
        object: the object that the error is about, for example ``stream 0x1b00000000011``; empty when it is not known.
        fix: what to do about it; empty when there is nothing to say.
        function: the function that failed, as ``acl`` calls it.
    """

    code: int
    kind: str
    sentence: str
    object: str
    fix: str
    function: str

    def __init__(self, function: str, code: int, text: Optional[str], details: Optional[_Details] = None) -> None:
        self._made_of = (function, code, text, details)
        self.code = code
        self.function = function
        if details is not None:
            c_function, self.kind, self.sentence, self.fix, self.object = details
            first = f"{c_function}: {self.sentence}."
        else:
            # A refusal of the module itself, or a library that has nothing but texts.
            self.kind = self.fix = self.object = ""
            first = text.splitlines()[0] if text else f"{function} answered {code}"
            self.sentence = first
        lines = [first]
        if self.fix:
            lines.append(self.fix)
        lines.append(f"[{code}{' ' + self.kind if self.kind else ''}]")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[builtins.object, ...]:
        # An exception is otherwise made again from its text, which is not what the initialiser takes.
        return _again, (type(self), self._made_of)


def _again(kind: type[Error], made_of: tuple[str, int, Optional[str], Optional[_Details]]) -> Error:
    made = kind.__new__(kind)
    Error.__init__(made, *made_of)
    return made


class InvalidValueError(Error, ValueError):
    """An argument is not what the call takes: a wrong size, a stale handle, a device that does not exist."""


class OutOfMemoryError(Error, MemoryError):
    """The device or the host has no memory left for the call."""


class NotSupportedError(Error, NotImplementedError):
    """The call is known and not implemented."""


class WaitTimeoutError(Error, TimeoutError):
    """A wait took longer than it was allowed to."""


_CLASSES: dict[int, type[Error]] = {
    100000: InvalidValueError,
    107000: InvalidValueError,
    107001: InvalidValueError,
    107003: InvalidValueError,
    107017: InvalidValueError,
    200001: NotSupportedError,
    200006: NotSupportedError,
    207000: NotSupportedError,
    207001: OutOfMemoryError,
    507046: WaitTimeoutError,
    507047: WaitTimeoutError,
}


def error(function: str, code: int) -> Error:
    """Makes the exception for a code; takes what the runtime keeps of the error for this thread."""
    fields = _last_error(code) if _last_error is not None else None
    # The text, too: a later error must not find it.
    text = acl.get_recent_err_msg()
    details: Optional[_Details] = None
    if fields is not None:
        c_function, kind, sentence, fix, name = fields
        details = (c_function, kind, sentence, fix, name)
    return _CLASSES.get(code, Error)(function, code, text, details)


def check(function: str, code: int) -> None:
    """Raises unless the code is 0.

    Raises:
        Error: the call failed.
    """
    if code:
        raise error(function, code)
