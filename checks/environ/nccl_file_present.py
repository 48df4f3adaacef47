"""Files of settings that NCCL reads whatever the environment is."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Environ, Profile


@check(
    title="An nccl.conf sets what no launch can unset",
    severity=Severity.WARNING,
    why="NCCL reads ~/.nccl.conf and /etc/nccl.conf in every process. `run` drops variables, it cannot drop a "
    "file: a line such as NCCL_P2P_DISABLE=1 there takes the links between GPUs away, and no log says so.",
    fix="Move the file away: `mv ~/.nccl.conf ~/.nccl.conf.off`; /etc/nccl.conf is the machine's administrator's.",
)
def nccl_file_present(environ: Environ, profile: Profile) -> Iterator[Finding]:
    if profile.gpus == 0:
        return
    # What only NCCL_CONF_FILE leads to goes with that variable, which environ-variable-left-over tells.
    dropped = environ.value("NCCL_CONF_FILE")
    for file in need(environ.nccl_files):
        if file.path != dropped or file.path.endswith(("/.nccl.conf", "/etc/nccl.conf")):
            move = "sudo mv" if file.path.startswith("/etc/") else "mv"
            away = f"Move it away: `{move} {file.path} {file.path}.off`."
            yield Finding(f"{file.path} says {'; '.join(file.lines)}", away)
