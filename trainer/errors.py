"""What can go wrong for a user, always said in two lines: what and where, and `fix:`. Imports no torch."""


class MendableError(Exception):
    """Something its reader can mend: the message says what and where, `fix` says how."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


class ConfigError(MendableError):
    """The config or the data is wrong in a way that only the user can mend; the run ends with INVALID."""


class DivergedError(MendableError):
    """The loss is not a number any more."""


class KilledError(MendableError):
    """A process of the run was ended from outside, before it could write its result."""
