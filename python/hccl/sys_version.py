"""The version of the toolkit whose interface is offered."""

__sys_version__ = "9.1.0"
