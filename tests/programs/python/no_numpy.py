"""`import acl` needs nothing but Python itself, and submodules can be imported by their names."""

import sys


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numpy":
            raise ImportError("there is no numpy here")


sys.meta_path.insert(0, Refuse())

import acl  # noqa: E402
from acl.rt import memcpy  # noqa: E402

assert "numpy" not in sys.modules
assert memcpy is acl.rt.memcpy
for name in "rt mdl media op blas util prof himpi fv".split():
    assert sys.modules[f"acl.{name}"] is getattr(acl, name), name
assert acl.init() == 0 and acl.finalize() == 0
print("ok")
