"""The GPUs as NVML lists them."""

from dataclasses import dataclass

from dflash_env.facts.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One device as NVML lists it."""

    index: int
    uuid: Reading[str]
    name: Reading[str]
    memory_bytes: Reading[int]


@dataclass(frozen=True, kw_only=True)
class Gpus:
    """What NVML answers. No driver is a fact, not an Unknown."""

    driver: Reading[str]
    devices: tuple[Gpu, ...]
