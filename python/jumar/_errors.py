"""Failures as exceptions: what happened, its code, and what to do about it."""

from __future__ import annotations

import re
from typing import Optional

import acl

_NAME = re.compile(r"Code: \d+ \((\w+)\)")
_FIX = re.compile(r"^\s*Solution: (.*)$", re.MULTILINE)


class Error(RuntimeError):
    """A call of the runtime failed.

    Attributes:
        code: the number that a C program gets, for example 107017.
        kind: its name, for example ``ACL_ERROR_RT_INVALID_HANDLE``; empty when the runtime gave no text.
        fix: what to do about it; empty when there is nothing to say.
        function: the function that failed, as ``acl`` calls it.
    """

    code: int
    kind: str
    fix: str
    function: str

    def __init__(self, function: str, code: int, text: Optional[str]) -> None:
        self._made_of = (function, code, text)
        text = text or ""
        first = text.splitlines()[0] if text else f"{function} answered {code}"
        # The vendor's message id opens the line; it is for searching, not for reading.
        sentence = re.sub(r"^[A-Z]{2}\d{4}: ", "", first)
        name = _NAME.search(text)
        fix = _FIX.search(text)
        self.code = code
        self.kind = name.group(1) if name else ""
        self.fix = fix.group(1) if fix else ""
        self.function = function
        lines = [sentence]
        if self.fix:
            lines.append(self.fix)
        lines.append(f"[{code}{' ' + self.kind if self.kind else ''}]")
        super().__init__("\n".join(lines))


    def __reduce__(self) -> tuple[object, ...]:
        # An exception is otherwise made again from its text, which is not what the initialiser takes.
        return _again, (type(self), self._made_of)


def _again(kind: type[Error], made_of: tuple[str, int, Optional[str]]) -> Error:
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
    """Makes the exception for a code; takes the text that the runtime keeps for this thread."""
    return _CLASSES.get(code, Error)(function, code, acl.get_recent_err_msg())


def check(function: str, code: int) -> None:
    """Raises unless the code is 0.

    Raises:
        Error: the call failed.
    """
    if code:
        raise error(function, code)
