import ctypes

import pytest

import acl


class Fake:
    """What the fake library noted of the last call on this thread."""

    def __init__(self):
        # The module has loaded it: this is the same library, and not a second one.
        self.library = ctypes.CDLL("libascendcl.so", mode=ctypes.RTLD_GLOBAL | getattr(ctypes, "RTLD_NOLOAD", 4))
        for name in ("fake_name", "fake_kinds", "fake_text"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.library.fake_number.restype = ctypes.c_uint64
        self.library.fake_real.restype = ctypes.c_double
        self.library.fake_exception.argtypes = [ctypes.c_size_t]

    def forget(self):
        self.library.fake_forget()

    def answer(self, code):
        ctypes.c_int.in_dll(self.library, "fake_code").value = code

    def message(self, text):
        # The library keeps the address alone.
        self.kept = text
        ctypes.c_char_p.in_dll(self.library, "fake_message").value = text

    @property
    def name(self):
        return self.library.fake_name().decode()

    @property
    def arguments(self):
        """Numbers, floats and texts in C order; outputs are `...`."""
        found = []
        for index, kind in enumerate(self.library.fake_kinds().decode()):
            found.append({
                "n": lambda i: self.library.fake_number(i),
                "r": lambda i: self.library.fake_real(i),
                "t": lambda i: self.library.fake_text(i).decode(),
                "0": lambda i: None,
                "o": lambda i: ...,
            }[kind](index))
        return found

    def exception(self, info):
        self.library.fake_exception(info)

    def dump(self):
        return self.library.fake_dump()


@pytest.fixture
def fake():
    fake = Fake()
    fake.answer(0)
    fake.message(None)
    fake.forget()
    while acl.get_recent_err_msg() is not None:
        pass
    yield fake
    fake.answer(0)
    fake.message(None)
