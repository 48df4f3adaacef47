"""Makes lockfiles: uv resolves, this module prunes, builds once and writes. No URL ever enters a lock."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
from packaging.pylock import PackageWheel, Pylock, PylockValidationError
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name

from dflash_env import build, codec, execute, sealing, wheelhouse
from dflash_env import lock as locks
from dflash_env.collect import programs, venv
from dflash_env.config import Config
from dflash_env.errors import Failure, StepFailed
from dflash_env.facts import Locked, Venv
from dflash_env.plan import UV_PASSES, Step
from dflash_env.state import State, uv_cache

PLATFORM = "x86_64-manylinux_2_28"
TOOL_LOCKS = ("tool", "test", "dev")
"""Locks that keep every artifact's hash, so that they install on any Python from 3.11 on."""

_CUT_OFF = re.compile(r"^# exclude-newer: (\S+)$", re.MULTILINE)
_TRAINING = re.compile(r"(?P<stem>[a-z0-9]+)-cp3(?P<minor>\d+)")
_OTHER_CUDA = re.compile(r"-cu(\d\d)$")


def write(settings: Config, names: tuple[str, ...], cut_off: str | None, wheelhouse_folder: Path | None = None) -> None:
    """Write the named locks of the project, or all that it has; collect the training locks' wheels in a folder."""
    folder = settings.project / "lockfiles"
    known = [path.stem for path in sorted(folder.glob("*.txt"))]
    if not (names or known):
        raise Failure(f"{folder} holds no lock", "name one to make, such as cu12-cp311 from lockfiles/cu12.in")
    for name in names or known:
        if name in TOOL_LOCKS:
            _write_tool(folder, name, cut_off)
        else:
            _write_training(settings, folder, name, cut_off, wheelhouse_folder)


def today() -> str:
    """The date, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def input_digest(path: Path) -> str:
    """The sha256 of an `.in` file and of those it includes."""
    text = path.read_bytes()
    included = re.findall(rb"^-r (\S+)$", text, re.MULTILINE)
    parts = [text, *((path.parent / name.decode()).read_bytes() for name in included)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _input(folder: Path, stem: str) -> Path:
    path = folder / f"{stem}.in"
    if not path.is_file():
        stems = [each.stem for each in folder.glob("*.in")]
        raise Failure(f"there is no {path}{codec.did_you_mean(stem, stems)}", f"write {path}, or name another lock")
    return path


def _cut_off(lock: Path, asked: str | None) -> str:
    recorded = _CUT_OFF.search(lock.read_text("utf-8")) if lock.is_file() else None
    return asked or (recorded[1] if recorded else today())


def _compile(source: Path, cut_off: str, *options: str) -> str:
    step = Step(
        why=f"resolve {source.name} as of {cut_off}",
        argv=(
            programs.find_uv(),
            "pip",
            "compile",
            *("--no-config", "--no-header", "--no-annotate", "--quiet", "--only-binary", ":all:"),
            *("--no-python-downloads", "--cache-dir", str(uv_cache()), "--exclude-newer", cut_off),
            *options,
            source.name,
        ),
        cwd=str(source.parent),
        passes=UV_PASSES,
    )
    click.echo(f"· {step.why}", err=True)
    return execute.run(step, limit_s=600).decode()


def _write_tool(folder: Path, name: str, asked: str | None) -> None:
    source, path = _input(folder, name), folder / f"{name}.txt"
    cut_off = _cut_off(path, asked)
    body = _compile(source, cut_off, "--universal", "--generate-hashes", "--python-version", "3.11")
    header = f"# `make lock` writes this file.\n# input: sha256:{input_digest(source)}\n# exclude-newer: {cut_off}\n"
    codec.write_text(path, header + body)


def _write_training(
    settings: Config, folder: Path, name: str, asked: str | None, wheelhouse_folder: Path | None
) -> None:
    parts = _TRAINING.fullmatch(name)
    if not parts:
        raise Failure(
            f"{name!r} names no lock", f"use {', '.join(TOOL_LOCKS)}, or <input>-cp3<minor> such as cu12-cp311"
        )
    source, path, minor = _input(folder, parts["stem"]), folder / f"{name}.txt", int(parts["minor"])
    cut_off = _cut_off(path, asked)
    options = ("--python-version", f"3.{minor}", "--python-platform", PLATFORM, "--format", "pylock.toml")
    chosen = tuple(_one_artifact_each(_compile(source, cut_off, *options), minor))
    packages = tuple(locked for locked, _ in chosen)
    if wheelhouse_folder:
        wheelhouse.fill(wheelhouse_folder, source.parent, [wheel for _, wheel in chosen])
    header = {
        "schema": str(codec.SCHEMA),
        "input": f"{source.name} sha256:{input_digest(source)}",
        "exclude-newer": cut_off,
        "python": f"3.{minor}",
        "platform": PLATFORM,
        "cuda": cuda_of(packages, parts["stem"]),
        "uv": _uv_version(),
        "unpacked-bytes": "0",
        "tree-digest": sealing.PENDING,
    }
    codec.write_text(path, _measured(settings, locks.LockFile(header=header, packages=packages), path).text())


def _measured(settings: Config, drafted: locks.LockFile, path: Path) -> locks.LockFile:
    """The lock with the size and the digests of the venv that it makes, by making it."""
    state, draft = State(settings.state), path.with_suffix(".draft")
    expected = locks.expectation(drafted, path.stem)
    try:
        codec.write_text(draft, drafted.text())
        folder = build.provide(state, expected, draft)
    finally:
        draft.unlink(missing_ok=True)
    found = venv.read(state, folder, expected.python)
    if not isinstance(found, Venv) or not isinstance(found.tree_digest, str):
        raise StepFailed(f"the venv {folder} cannot be measured: {found}", "run `dflash-env lock` again")
    header = drafted.header | {"unpacked-bytes": str(venv.weigh(folder)), "tree-digest": found.tree_digest}
    packages = tuple(replace(package, tree=found.packages[package.name]) for package in drafted.packages)
    return locks.LockFile(header=header, packages=packages)


def _one_artifact_each(pylock: str, minor: int) -> Iterator[tuple[Locked, PackageWheel]]:
    """The wheel that an installer would choose for the platform, of each package: one name, one version, one hash."""
    try:
        resolved = Pylock.from_dict(tomllib.loads(pylock))
    except (tomllib.TOMLDecodeError, PylockValidationError) as error:
        raise StepFailed(f"uv's resolution cannot be read: {error}", "use the uv of lockfiles/tool.txt") from None
    for package, artifact in resolved.select(tags=_tags(minor)):
        sha256 = artifact.hashes.get("sha256") if isinstance(artifact, PackageWheel) else None
        if package.version is None or sha256 is None or not isinstance(artifact, PackageWheel):
            raise StepFailed(f"{package.name} is no wheel with a version and a sha256", "pin it to a release")
        yield Locked(name=canonicalize_name(package.name), version=str(package.version), sha256=sha256), artifact


def _tags(minor: int) -> list[Tag]:
    """What an x86_64 Linux with glibc 2.28 installs, best first."""
    platforms = [f"manylinux_2_{glibc}_x86_64" for glibc in range(28, 4, -1)]
    platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
    python = (3, minor)
    return [*cpython_tags(python, platforms=platforms), *compatible_tags(python, f"cp3{minor}", platforms)]


def cuda_of(packages: tuple[Locked, ...], stem: str) -> str:
    """The CUDA release that the packages carry, such as 12.8; another major than the lock's name is refused."""
    wanted = stem.removeprefix("cu")
    foreign = [one.name for one in packages if (found := _OTHER_CUDA.search(one.name)) and found[1] != wanted]
    # From CUDA 13 on NVIDIA's distributions carry no suffix.
    foreign += [one.name for one in packages if one.name.startswith("nvidia-") and not _OTHER_CUDA.search(one.name)]
    if foreign:
        raise Failure(
            f"{stem}.in resolves to packages of another CUDA: {', '.join(foreign)}",
            "pin torch to a release built for that CUDA (2.10.0 is the last one for CUDA 12)",
        )
    runtime = next((one.version for one in packages if one.name == f"nvidia-cuda-runtime-cu{wanted}"), None)
    return ".".join(runtime.split(".")[:2]) if runtime else "none"


def _uv_version() -> str:
    step = Step(why="ask uv its version", argv=(programs.find_uv(), "--version"), cwd="/")
    return execute.run(step, limit_s=20).decode().split()[1]
