"""The families: a table for each, in which a line names operators and says how they are computed."""

import importlib

#: Modules of families, in the order of the page.
MODULES = ("elementwise", "activations", "reductions", "lists", "movement", "indexing", "norms", "products", "attention", "windows", "others", "further", "quantising", "networks", "derivatives", "remaining", "joined", "blocked", "sparse")


class Family:
    """A family: for each operator a function that makes a call of it."""

    def __init__(self, name, crate_part):
        self.name, self.part, self.makers = name, crate_part, {}

    def add(self, names, make, /, **row):
        """Adds operators, and the form in place of each one that has it (named without `aclnn`)."""
        for name in names.split():
            for operator in (f"aclnn{name}", f"aclnnInplace{name}"):
                self.makers[operator] = lambda call, make=make, row=row: make(call, **row)


def load(computed, large=False):
    """Returns the families, each without the operators that are not computed or not there; or only the calls with large tensors."""
    families, known = [], set(computed)
    for module in ("large",) if large else MODULES:
        made = importlib.import_module(f"families.{module}").FAMILIES
        families += made
    for family in families:
        family.makers = {name: make for name, make in family.makers.items() if name in known}
    return families
