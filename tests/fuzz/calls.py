"""Makes a C program that calls the functions of the C interface at random, from the data in api/.

The program passes arguments of the right types: live, stale and invented handles, null, sizes, names, memory of the host and of the device. What it
cannot know is left out: functions that wait for something that only the program can bring about, and those that take variable arguments.
"""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Headers whose functions are called.
HEADERS = ("acl", "aclnn/")
#: Not called: they may wait without end for what no other thread does, start a compiler, or take variable arguments.
LEFT_OUT = re.compile(
    r"Wait|Label|Cond|Switch|ProcessReport|LaunchCallback|Subscribe|ConfigOpt|queue|Queue|Channel|AppLog|rtc|opCompile|opSetAttr|SnapShot|aclgrph"
)
#: Functions whose plain pointers are addresses that the library looks up.
BY_ADDRESS = re.compile(r"Mem(?!.*Shareable)|Free|Malloc|Pointer")
#: The size of the areas that pointers point to, in bytes, and the most that a count or a size says where memory is passed.
AREA, MOST = 1 << 20, 4096
INTEGERS = {
    "int", "size_t", "bool", "float", "double", "char",
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}


def functions():
    """Lists the functions: name, result, and for each parameter its type and its annotations."""
    for path in sorted((ROOT / "api").glob("*.toml")):
        if path.name == "errors.toml":
            continue
        for name, entry in tomllib.loads(path.read_text()).items():
            if not isinstance(entry, dict) or "ret" not in entry or entry.get("variadic"):
                continue
            if not entry["header"].startswith(HEADERS) or LEFT_OUT.search(name):
                continue
            params = []
            for param in entry.get("params", []):
                text = param.split(":", 1)[1]
                kind, annotations = split(text)
                params.append((kind.strip(), annotations.strip()))
            yield name, entry["ret"], params


def split(text):
    """Separates a type from its annotations: at the first comma outside of parentheses."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            return text[:at], text[at + 1:]
    return text, ""


def plain(kind):
    """A type without const and brackets."""
    return re.sub(r"\bconst\b|\[\]", "", kind).replace("*const", "*").strip()


def table(name):
    return set(tomllib.loads((ROOT / "api/types" / f"{name}.toml").read_text()))


class Maker:
    def __init__(self):
        self.handles, self.callbacks, self.structs = table("handles"), table("callbacks"), table("structs")
        self.enums = table("enums")
        self.kinds = {}

    def pool(self, kind):
        """The number of the pool that handles of a type are kept in."""
        return self.kinds.setdefault(plain(kind).replace(" ", "").rstrip("*"), len(self.kinds))

    def is_handle(self, kind):
        base = plain(kind).replace("*", "").strip()
        stars = kind.count("*")
        return base in self.handles and stars <= 1 or (stars == 1 and base not in self.structs | INTEGERS | self.enums | {"void"})

    def argument(self, kind, annotations, sizes, by_address):
        base, stars = plain(kind).replace("*", "").strip(), kind.count("*") + kind.count("[]")
        cast = kind.replace("[]", "*")
        if "out" in annotations.split("(")[0] or annotations.startswith("inout"):
            return f"({cast})out_area(me)"
        if stars == 0 and base in self.callbacks:
            return f"({kind})(below(me, 3) ? (void (*)(void))callback : NULL)"
        if self.is_handle(kind) and "slice" not in annotations and "addr" not in annotations:
            return f"({cast})handle(me, {self.pool(kind)})"
        if base == "char" and stars == 1 and "const" in kind and "slice" not in annotations:
            return f"({cast})name(me)"
        if stars == 0 and base in INTEGERS | self.enums:
            return f"({kind}){sizes}(me)"
        if stars == 0:
            return f"(*({kind} *)zeros)" if base in self.structs else f"({kind})number(me)"
        if base in self.structs or annotations.startswith("in") or "slice" in annotations and base != "void":
            # Structures and lists hold pointers and lengths that are believed: all zero.
            return f"({cast})(below(me, 16) ? zeros : NULL)"
        if stars > 1:
            return f"({cast})(below(me, 16) ? zeros : NULL)"
        # Where the library looks at the bytes itself, they have to be there; elsewhere it knows which addresses are the device's.
        anywhere = base == "void" and (annotations.startswith(("span", "addr", "rows")) or not annotations and by_address)
        return f"({cast}){'memory' if anywhere else 'data'}(me)"

    def call(self, number, name, result, params):
        sizes = "size" if any("*" in kind or "[]" in kind for kind, _ in params) else "number"
        if any(annotations.startswith("rows") for _, annotations in params):
            # A pitch times a height.
            sizes = "few"
        out, arguments = None, []
        for index, (kind, annotations) in enumerate(params):
            arguments.append(f"a{index}")
            if out is None and annotations.startswith("out") and self.is_handle(kind.replace("*", "", 1).strip()):
                out = (index, self.pool(kind.replace("*", "", 1)))
            elif out is None and annotations.startswith("out") and plain(kind).replace(" ", "") == "void**":
                out = (index, self.pool("void"))
        lines = [f"static void call_{number}(struct thread *me)", "{"]
        for index, (kind, annotations) in enumerate(params):
            if "(" in kind or re.search(r"\[\d", kind):
                # A pointer to a function, or to arrays: null, or memory that is all zero.
                lines.append(f"    void *a{index} = {'NULL' if '(' in kind else 'below(me, 16) ? zeros : NULL'};")
                continue
            kept = kind.replace("[]", "*") if "[]" in kind else kind
            kept = re.sub(r"\*const$", "*", kept)
            kept = kept if "*" in kept else re.sub(r"\bconst\b", "", kept).strip()
            lines.append(f"    {kept}{'' if kept.endswith('*') else ' '}a{index} = {self.argument(kept, annotations, sizes, BY_ADDRESS.search(name) is not None)};")
        call = f"{name}({', '.join(arguments)})"
        if result == "aclError":
            lines.append(f"    aclError result = {call};")
            lines.append("    answered(me, result);")
            if out:
                lines.append(f"    if (result == 0 && a{out[0]} != NULL) keep(me, {out[1]}, (uint64_t)*(uintptr_t *)a{out[0]});")
        elif result == "void":
            lines.append(f"    {call};")
        elif self.is_handle(result):
            lines.append(f"    keep(me, {self.pool(result)}, (uint64_t)(uintptr_t){call});")
        else:
            lines.append(f"    (void){call};")
        lines += ["}", ""]
        return "\n".join(lines)


def program():
    """The whole program: the calls, a table of them, and tests/fuzz/calls.h around it."""
    maker = Maker()
    known = list(functions())
    calls = [maker.call(number, *entry) for number, entry in enumerate(known)]
    names = "".join(f'    {{"{name}", call_{number}}},\n' for number, (name, _, _) in enumerate(known))
    return (
        f"#define AREA {AREA}\n#define MOST {MOST}\n#define POOLS {max(len(maker.kinds), 1)}\n#define VOID_POOL {maker.pool('void')}\n"
        '#include "calls.h"\n\n' + "\n".join(calls)
        + "\nstatic const struct entry entries[] = {\n" + names + "};\n\n#define RUN_CALLS\n#include \"calls.h\"\n"
    ), len(known)


if __name__ == "__main__":
    text, count = program()
    pathlib.Path("calls.c").write_text(text)
    print(f"{count} functions")
