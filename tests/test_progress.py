"""A meter redraws one line on a terminal and prints plain lines elsewhere."""

import io

from dflash_env.progress import Meter


class Screen(io.TextIOWrapper):
    """A stream that says what it is."""

    def __init__(self, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.seek(0)
        return self.read()


def ticking(*times: float):
    moments = iter(times)
    return lambda: next(moments)


def test_on_a_terminal_one_line_is_redrawn_and_left_clean() -> None:
    screen = Screen(terminal=True)
    meter = Meter(screen, ticking(0, 0, 2))
    meter.show("fetching", 0, 8_000_000_000)
    meter.show("fetching", 4_000_000_000, 8_000_000_000)
    meter.close()
    *_, last, cleared = screen.text().split("\r\033[K")
    assert last == f"  fetching  {'━' * 12}{'─' * 12}  4.0 of 8.0 GB  2,000 MB/s"
    assert cleared == ""
    assert "\n" not in screen.text()


def test_elsewhere_a_line_every_ten_seconds() -> None:
    screen = Screen(terminal=False)
    meter = Meter(screen, ticking(0, 1, 5, 11, 12))
    for done in (1, 2, 3, 4):
        meter.show("fetching", done * 10**9, 8 * 10**9)
    meter.close()
    assert screen.text().splitlines() == [f"  fetching  {'━' * 9}{'─' * 15}  3.0 of 8.0 GB  200 MB/s"]


def test_each_phase_has_its_own_rate() -> None:
    screen = Screen(terminal=True)
    meter = Meter(screen, ticking(0, 0, 100, 110))
    meter.show("fetching", 5 * 10**9, 8 * 10**9)
    meter.show("installing", 10**9, 8 * 10**9)
    meter.show("installing", 3 * 10**9, 8 * 10**9)
    assert screen.text().endswith("3.0 of 8.0 GB  200 MB/s")


def test_without_unicode_and_without_a_total() -> None:
    screen = Screen(terminal=True, encoding="ascii")
    meter = Meter(screen, ticking(0, 0, 0))
    meter.show("fetching", 10**9, 2 * 10**9)
    meter.show("fetching", 10**9, 0)
    assert "############------------" in screen.text()
    assert screen.text().endswith("fetching  1.0 GB")
