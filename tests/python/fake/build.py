"""Builds a shared library that has every function of the C interface and runs nothing.

Each function notes its name and the arguments it was given, as wide as its declaration in the headers says, fills its
outputs with values that depend on their index, and returns a code that the test chose. A few (special.c) do a little of
what the real ones do. With it the tests see what the Python module passes on, and where, without a runtime behind.
"""

import ast
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # before Python 3.11; pytest brings it there
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

HEADERS = [
    "acl/acl.h", "acl/acl_base.h", "acl/acl_rt.h", "acl/acl_mdl.h", "acl/acl_op.h", "acl/acl_prof.h", "acl/acl_dump.h",
    "acl/ops/acl_dvpp.h", "acl/ops/acl_cblas.h", "acl/ops/acl_fv.h", "acl/dvpp/hi_dvpp.h",
]


class Parameter:
    """A parameter of a C function: its name, its C type, and what the data says about it."""

    def __init__(self, text, enums):
        self.name, rest = text.split(": ", 1)
        parts = [part.strip() for part in rest.split(", ")]
        self.type = parts[0]
        self.notes = parts[1:]
        bare = self.type.replace("const", "").strip()
        self.bare = bare
        self.is_enum = bare in enums
        self.is_real = bare in ("float", "double")
        self.is_text = self.type.replace(" ", "") == "constchar*"

    @property
    def pointee(self):
        """The type behind one `*`, or None."""
        bare = self.bare
        return bare[:-1].strip() if bare.endswith("*") else None

    @property
    def is_out(self):
        return "out" in self.notes or "out?" in self.notes or self.bare.replace(" ", "").endswith("**") and "const" not in self.type


def functions():
    """Every C function: name, return type, parameters. Plain names of numbers (`hi_u32`) are spelt out, and `hi_s32` is a code."""
    enums = set(tomllib.loads((ROOT / "api/types/enums.toml").read_text(encoding="utf-8")))
    aliases = tomllib.loads((ROOT / "api/types/aliases.toml").read_text(encoding="utf-8"))
    plain = {name: entry["type"] for name, entry in aliases.items() if name.startswith("hi_")}

    def spelt_out(text):
        for _ in range(2):
            text = re.sub(r"\bhi_\w+\b", lambda found: plain.get(found[0], found[0]), text)
        return text

    found = {}
    for path in sorted((ROOT / "api").glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if isinstance(entry, dict) and "params" in entry and "ret" in entry:
                ret = "aclError" if entry["ret"] == "hi_s32" else entry["ret"]
                found[name] = (ret, [Parameter(spelt_out(p), enums) for p in entry["params"]])
    return found, enums


INTEGERS = {
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "int",
    "unsigned int", "aclError", "aclFloat16",
}


def source(names):
    """The C text that defines these functions."""
    table, enums = functions()
    structs = set(tomllib.loads((ROOT / "api/types/structs.toml").read_text(encoding="utf-8")))
    handles = set(tomllib.loads((ROOT / "api/types/handles.toml").read_text(encoding="utf-8")))
    special = (HERE / "special.c").read_text(encoding="utf-8")
    text = ["".join(f'#include "{header}"\n' for header in HEADERS), special]
    for name in sorted(names):
        if re.search(rf"\b{name}\(", special) or name not in table:
            continue
        ret, params = table[name]
        listed = []
        body = [f'    begin("{name}");']
        outs = 0
        for p in params:
            listed.append(declare(p))
            if p.is_real:
                body.append(f"    note_real({p.name});")
            elif p.is_text:
                body.append(f"    note_text({p.name});")
            elif p.is_out and p.pointee and p.pointee.endswith("*") or p.is_out and p.pointee in handles:
                body.append(f"    note_out((uintptr_t){p.name});")
                body.append(f"    if ({p.name} != NULL) *{p.name} = (void *)(uintptr_t)({out_value('pointer', outs)});")
                outs += 1
            elif p.is_out and p.pointee in INTEGERS:
                body.append(f"    note_out((uintptr_t){p.name});")
                body.append(f"    if ({p.name} != NULL) *{p.name} = ({p.pointee})({out_value('integer', outs)});")
                outs += 1
            elif p.is_out and p.pointee in ("float", "double"):
                body.append(f"    note_out((uintptr_t){p.name});")
                body.append(f"    if ({p.name} != NULL) *{p.name} = {out_value('real', outs)};")
                outs += 1
            elif p.is_out and p.pointee in enums:
                body.append(f"    note_out((uintptr_t){p.name});")
                body.append(f"    if ({p.name} != NULL) *{p.name} = ({p.pointee})({out_value('enum', outs)});")
                outs += 1
            elif p.bare in structs:
                body.append(f"    (void){p.name};")
            elif "*" in p.type or "[" in p.type or p.bare not in INTEGERS and not p.is_enum:
                body.append(f"    note((uint64_t)(uintptr_t){p.name});")
            else:
                body.append(f"    note((uint64_t){p.name});")
        if ret == "void":
            pass
        elif ret == "aclError":
            body.append("    return fake_code;")
        elif ret.replace(" ", "") == "constchar*":
            body.append(f'    return fake_code == 0 ? "text of {name}" : NULL;')
        elif ret in ("float", "double"):
            body.append("    return 0.5;")
        elif ret in INTEGERS:
            body.append(f"    return ({ret})(~0ULL - 4);")
        elif ret in enums:
            body.append(f"    return ({ret})33;")
        elif ret in structs:
            body.append(f"    {ret} none;\n    memset(&none, 0, sizeof none);\n    return none;")
        else:
            body.append(f"    return ({ret})(uintptr_t)(fake_code == 0 ? 0x7777000ULL : 0);")
        text.append(f"{ret} {name}({', '.join(listed) or 'void'})\n{{\n" + "\n".join(body) + "\n}\n")
    return "\n".join(text)


def declare(p):
    """`int64_t[][2] range` is `int64_t range[][2]` in C; a function pointer holds its name inside."""
    if "[" in p.type:
        base, brackets = p.type.split("[", 1)
        return f"{base} {p.name}[{brackets}"
    if "(*" in p.type:
        return re.sub(r"\(\*(const)?\)", lambda m: f"(*{m.group(1) or ''} {p.name})", p.type, count=1)
    return f"{p.type} {p.name}"


def out_value(kind, index):
    """The value of an output at an index: wide enough to show its width and its sign."""
    return {
        "pointer": f"0x6660000ULL + {index}",
        "integer": f"~0ULL - {index}",
        "real": f"{index} + 0.25",
        "enum": f"{index} + 20",
    }[kind]


def called_functions():
    """Full names of the Python functions, with the C function that each names instead of a docstring: the data."""
    found = {}
    for path in sorted((ROOT / "api/pyacl").glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            prefix = "acl" if path.stem == "base" else f"acl.{path.stem}"
            found[f"{prefix}.{name}"] = entry
    return found


def build(folder, module):
    """Lays out a tree with a copy of the module and the library, and returns the folder for PYTHONPATH."""
    packages = folder / "python" / "site-packages"
    libraries = folder / "lib64"
    packages.mkdir(parents=True)
    libraries.mkdir(parents=True)
    shutil.copy(module, packages / "acl.so")
    text = folder / "fake.c"
    names = {entry["c"] for entry in called_functions().values() if "c" in entry}
    # Functions that a hand-written wrapper needs beside the one that the data names.
    names |= {"aclprofGetOpName", "aclprofGetOpType"}
    text.write_text(source(names), encoding="utf-8")
    command = [
        *shlex.split(os.environ.get("CC", "cc")), "-std=gnu11", "-O1", "-g", "-shared", "-fPIC", "-Wall", "-Wno-unused-variable", "-Wl,-soname,libascendcl.so",
        "-I", str(ROOT / "include"), str(text), "-o", str(libraries / "libascendcl.so"), "-lpthread",
    ]
    subprocess.run(command, check=True)
    return packages


def module_file():
    """The acl.so that `import acl` would load, without loading it."""
    spec = importlib.util.find_spec("acl")
    if spec is None or not (spec.origin or "").endswith(".so"):
        raise RuntimeError("import acl finds no acl.so; run the tests through `jumar run`")
    return Path(spec.origin)


def stubs():
    """What the .pyi files say: full name -> (parameters as (name, annotation, optional), return annotation)."""
    found = {}
    for path in sorted((ROOT / "python/acl-stubs").glob("*.pyi")):
        prefix = "acl" if path.stem == "__init__" else f"acl.{path.stem}"
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            args = node.args
            optional = len(args.defaults)
            positional = args.posonlyargs
            listed = [
                (a.arg, ast.unparse(a.annotation), i >= len(positional) - optional) for i, a in enumerate(positional)
            ]
            assert not args.args and not args.kwonlyargs and args.kwarg is None, path
            found[f"{prefix}.{node.name}"] = (listed, ast.unparse(node.returns))
    return found


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), module_file()))
