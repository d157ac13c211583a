"""The package of collective communication that a toolkit installs. MindSpore asks it for the toolkit's version."""
