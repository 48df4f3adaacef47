"""The torch-free side of dflash-env: read the machine, judge it, and only then hand off."""

__version__ = "0.1.0"
