"""What may be removed from the state folder: venvs that no link, run or way back needs, and what hangs on them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dflash_env import execute
from dflash_env.build import BUILDING
from dflash_env.collect import venv as venvs
from dflash_env.state import State


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something in the state folder, what it weighs, and why it goes or stays."""

    path: Path
    size_bytes: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What would go and what stays."""

    goes: tuple[Item, ...]
    stays: tuple[Item, ...]

    @property
    def size_bytes(self) -> int:
        """What would be freed."""
        return sum(item.size_bytes for item in self.goes)


def look(state: State, keep: int) -> Sweep:
    """Sort the state folder; `keep` earlier venvs of each lock stay to go back to. Nothing is touched."""
    needed = _needed(state, keep)
    goes, stays = [], []
    for folder in _venvs(state):
        why = "in use by a running training" if execute.leased(state.lease(folder)) else needed.get(folder.name, "")
        size = venvs.weigh(folder)
        if why:
            stays.append(Item(path=folder, size_bytes=size, why=why))
        else:
            goes.append(Item(path=folder, size_bytes=size, why="no link, no run and no way back needs it"))
    there = {item.path.name for item in stays}
    return Sweep(goes=(*goes, *_leftovers(state, there)), stays=tuple(stays))


def _venvs(state: State) -> list[Path]:
    if not state.venvs.is_dir():
        return []
    return sorted(path for path in state.venvs.iterdir() if path.is_dir() and path.name not in (BUILDING, "current"))


def _needed(state: State, keep: int) -> dict[str, str]:
    links = state.venvs / "current"
    current = {link.name: link.resolve().name for link in links.iterdir()} if links.is_dir() else {}
    needed = {name: f"current for {lock}" for lock, name in current.items()}
    for lock, name in current.items():
        used = [folder for _, of, folder in history(state) if of == lock and folder != name]
        for earlier in list(dict.fromkeys(reversed(used)))[:keep]:
            needed.setdefault(earlier, f"the way back for {lock} (rebuild --rollback)")
    return needed


def history(state: State) -> list[tuple[str, str, str]]:
    """Every switch: when, of which lock, to which folder."""
    if not state.history.exists():
        return []
    rows = (line.split() for line in state.history.read_text("utf-8").splitlines())
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def _leftovers(state: State, venvs_that_stay: set[str]) -> Iterator[Item]:
    """An interrupted build, and the kernels and bytecode of venvs that are no more."""
    building = state.venvs / BUILDING
    if building.exists():
        yield Item(path=building, size_bytes=venvs.weigh(building), why="an interrupted build")
    for parent in (state.caches / "compile", state.caches / "bytecode"):
        for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
            if folder.name not in venvs_that_stay:
                yield Item(path=folder, size_bytes=venvs.weigh(folder), why="of a venv that is no more")


def remove(state: State, item: Item) -> None:
    """Remove one item, and the notes beside a venv. A venv that came into use meanwhile stays."""
    if item.path.parent == state.venvs and execute.leased(state.lease(item.path)):
        return
    execute.discard(item.path)
    for note in (state.seal(item.path), state.manifest(item.path), state.lease(item.path)):
        note.unlink(missing_ok=True)
