"""Cases that no node case can be written anew for."""


def of(operator, variable, name):
    """Gives the cases of an operator in a type."""
    return []
