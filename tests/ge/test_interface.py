"""Every class and function that programs are known to use: a program with one use of each compiles, links and starts.

interface.json has a line for each: class, function, header, mark, what it is, what it returns, its name, what it takes. What is
not there is in MISSING, and on docs/graph-engine.md.
"""

import json
import re

from build import HERE, ROOT, compile_text, run

ROWS = json.loads((HERE / "interface.json").read_text())
# What Jumar does not have, by the sentence of the page that states it.
MISSING = {}
# Declared as deleted: a copy would be wrong.
NOT_COPIED = {"Promote", "TensorData"}
HEADERS = sorted({row[2] for row in ROWS}) + ["ge/ge_allocator.h", "ge/ge_utils.h"]


def use(number, row):
    """A function that uses what the row names as a program would."""
    of, full, _, _, kind, returns, name, takes = row
    scope = (of or full).split("::")[0] if "::" in (of or full) else ""
    own = of.rsplit("::", 1)[-1] if of else ""
    takes = [qualified(take) for take in takes]
    returns = qualified(returns)
    template = re.search(r"\bT\b", returns) is not None
    arguments = ", ".join(f"Given<{take}>()" for take in takes)
    if name.startswith("~"):
        body = f"Given<{of} *>()->{name}();"
    elif of and name == own:
        if takes == [f"const {own} &"] and own in NOT_COPIED:
            body = f'static_assert(!std::is_copy_constructible<{of}>::value, "{of}");'
        else:
            body = f"{of} made({arguments}); (void)made;" if takes else f"{of} made; (void)made;"
    elif of and name == "operator=" and own in NOT_COPIED and takes == [f"const {own} &"]:
        body = f'static_assert(!std::is_copy_assignable<{of}>::value, "{of}");'
    elif of:
        call = f"{of}::{name}" if "static" in kind else f"self.{name}"
        if own == "OpReg":
            # Their names are also macros'.
            call = f"(self.{name})"
        if template:
            call = call.replace(name, f"template {name}<float>" if "static" not in kind else f"{name}<float>")
            returns = re.sub(r"\bT\b", "float", returns)
        # Attributes' values are made from values.
        if own == "AttrValue" and name == "CreateFrom":
            call, arguments = f"{of}::CreateFrom<int64_t>", "Given<int64_t>()"
            returns = of
        if own == "AttrValue" and name == "GetValue" and not takes:
            call, arguments = "self.GetValue", "Given<float &>()"
        what = "" if returns == "void" else f"{returns} result = "
        after = "" if returns == "void" else " (void)result;"
        const = "const " if "const" in kind else ""
        held = "" if "static" in kind else f"{const}Self &self = Given<{const}Self &>(); "
        body = f"{held}{what}{call}({arguments});{after}"
    else:
        what = "" if returns == "void" else f"{returns} result = "
        after = "" if returns == "void" else " (void)result;"
        body = f"{what}{full}({arguments});{after}"
    space = f"using namespace {scope};" if scope else ""
    inside = f"static void Do() {{ {body} }}"
    if own == "Operator" and not name.startswith("~"):
        # A class of its own reaches what operators' classes inherit.
        return f"namespace u{number} {{ {space} struct Use : ge::Operator {{ typedef Use Self; {inside} }}; }}"
    return f"namespace u{number} {{ {space} struct Use {{ typedef {of or 'int'} Self; {inside} }}; }}"


def qualified(text):
    for name, of in {"DumpFormat": "ge::Graph::", "AxisIndex": "gert::ExpandDimsType::", "DeleteFunc": "ge::Tensor::"}.items():
        text = re.sub(rf"(?<![\w:]){name}\b", of + name, text)
    return text


def program():
    lines = [f'#include "{header}"' for header in HEADERS]
    lines += ["#include <cstdio>", "#include <cstdlib>", "#include <type_traits>"]
    lines += ["template <typename T> T Given() { std::abort(); }"]
    first = len(lines)
    lines += [use(number, row) for number, row in enumerate(ROWS)]
    table = ", ".join(f"&u{number}::Use::Do" for number in range(len(ROWS)))
    lines += [f"void (*volatile table[])() = {{{table}}};"]
    lines += ['int main() { std::printf("%zu uses\\n", sizeof table / sizeof *table); return table[0] == nullptr; }', ""]
    return "\n".join(lines), first


def name_of(row):
    of, full, _, _, _, returns, name, takes = row
    return f"{returns} {of + '::' + name if of else full}({', '.join(takes)})".strip()


def test_every_symbol_that_programs_use_compiles_links_and_starts(tmp_path):
    text, first = program()
    flags = ["-ldl", "-lge_runner", "-O0"]
    done = compile_text(tmp_path, text, *flags, std="c++17", abi=1, check=False)
    lines = {int(line) for line in re.findall(r"program\.cpp:(\d+):\d+: error", done.stderr)}
    missing = {name_of(ROWS[line - 1 - first]) for line in lines if 0 <= line - 1 - first < len(ROWS)}
    assert missing == set(MISSING), done.stderr[:4000]
    assert done.returncode == 0, done.stderr[:4000]
    assert f"{len(ROWS)} uses" in run(tmp_path / "program", tmp_path)


def test_names_of_options_have_the_values_of_the_documentation(tmp_path):
    lines = ['#include "ge/ge_api.h"', '#include "ge/ge_ir_build.h"', "#include <cstring>", "#include <string>", "int main() {"]
    for line in (HERE / "ir_options.txt").read_text().splitlines():
        name, value = line.split()
        lines.append(f'  if (std::string(ge::ir_option::{name}) != "{value}") return 1;')
    for name in ["global_options", "ir_builder_suppported_options", "ir_parser_suppported_options"]:
        lines.append(f"  if (ge::ir_option::{name}.empty()) return 2;")
    assert len(lines) == 5 + 66
    compile_text(tmp_path, "\n".join([*lines, "  return 0;", "}", ""]), "-lge_runner")
    run(tmp_path / "program", tmp_path)


def test_what_is_missing_is_on_the_page():
    page = (ROOT / "docs/graph-engine.md").read_text()
    for name, sentence in MISSING.items():
        assert sentence in page, name


def test_every_name_is_used_by_a_program_that_runs():
    """Not only declared: each name stands in a program of these tests, which checks what it does."""
    programs = "".join(path.read_text() for path in HERE.glob("*.cpp")) + (HERE / "support.h").read_text()
    macros = (ROOT / "include/graph/operator_reg.h").read_text()
    plain = {row[6] for row in ROWS if row[6].isidentifier() and row[0] not in ("ge::OpReg", "ge::TensorType")}
    unused = sorted(
        name for name in plain
        if not re.search(rf"\b{name}\b", programs) and not re.search(rf"\b{name}\b", macros)
    )
    assert unused == [], unused
