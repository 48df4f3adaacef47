"""What a shell and the loader would inject into a Python started here."""

from dataclasses import dataclass

from dflash_env.facts.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Variable:
    """An environment variable that this tool knows by name or prefix; no other is ever read."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """A file that a library reads whatever the environment says."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Environ:
    """The shell this tool was started from. `run` passes on almost nothing of it, but a command typed by hand does."""

    variables: tuple[Variable, ...]
    tool_prefix: str
    """The venv of this tool itself, which may well be active."""
    user_site: Reading[str]
    """The user's site-packages for the locked Python; not applicable when nothing is in it."""
    libraries: tuple[str, ...]
    """CUDA and torch libraries in the folders of LD_LIBRARY_PATH."""
    toolkit: Reading[str]
    """The CUDA release under CUDA_HOME or CUDA_PATH."""
    preload_file: Reading[tuple[str, ...]]
    """Libraries listed in /etc/ld.so.preload."""
    nccl_files: Reading[tuple[SettingsFile, ...]]
    """The nccl.conf files that NCCL would read."""

    def value(self, name: str) -> str:
        """A variable's value, empty when it is not set."""
        return next((variable.value for variable in self.variables if variable.name == name), "")
