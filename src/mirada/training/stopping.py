"""Being told what happens, and being stopped in an orderly way."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from mirada.training.runs import Run


class StopTraining(Exception):
    """A listener raises it to have the run saved and ended after this step."""


class Listener:
    """Who is told: a progress bar, a page. Does nothing by itself; write over what you need."""

    def on_start(self, run: "Run", steps: int) -> None:
        """The run goes from `run.step` to `steps`."""

    def on_step(self, step: int, loss: Tensor) -> None:
        """After each step. `loss` is its loss, a scalar; to read it is to wait for the device."""

    def on_line(self, line: dict[str, Any]) -> None:
        """After each line of metrics.jsonl."""

    def on_maps(self, step: int, maps: dict[str, Tensor]) -> None:
        """After each snapshot: for each kind of attention its maps, (…, rows, keys) of blocks and heads."""

    def on_end(self, run: "Run") -> None:
        """The run is saved, whether it came to its end or was stopped."""


class Stop:
    """Whether somebody asked for the end, and which signal it was."""

    asked = False
    signal: int | None = None


@contextmanager
def signals() -> Iterator[Stop]:
    """SIGINT and SIGTERM ask for the end; a second one acts at once, as it would have without this.

    Only the main thread can listen to signals; in any other, nothing is installed.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore():
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def handle(number: int, frame: object) -> None:
        stop.asked, stop.signal = True, number
        restore()

    for number in before:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        restore()
