"""What happened in a job, in order: kept once, and read by everybody at a pace of their own."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any, NamedTuple


class Happening(NamedTuple):
    """One thing that happened. `number` grows by one from 1 on; `data` is JSON text, or a run's state."""

    number: int
    name: str
    data: str | dict[str, Any]


class Log:
    """Added to by any thread. Who reads waits for nobody, and nobody waits for who reads."""

    def __init__(self):
        self.happenings: list[Happening] = []
        self.closed = False
        self.lock = threading.Lock()
        self.waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def add(self, name: str, data: str | dict[str, Any]) -> None:
        with self.lock:
            self.happenings.append(Happening(len(self.happenings) + 1, name, data))
        self.wake()

    def close(self, closed: bool = True) -> None:
        """Nothing more will come; unless, with False, something will."""
        self.closed = closed
        self.wake()

    def wake(self) -> None:
        with self.lock:
            for loop, event in self.waiting:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    async def follow(self, after: int, patience: float) -> AsyncIterator[Happening | None]:
        """All that comes after number `after`, until it is closed; None where `patience` seconds go by."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        after = after if 0 <= after <= len(self.happenings) else 0  # a number that never was
        with self.lock:
            self.waiting.add((loop, event))
        try:
            while True:
                event.clear()
                closed = self.closed  # before looking: what came until then is seen
                while after < len(self.happenings):
                    happening = self.happenings[after]
                    after = happening.number
                    yield happening
                if closed:
                    return
                try:
                    await asyncio.wait_for(event.wait(), patience)
                except TimeoutError:
                    yield None
        finally:
            with self.lock:
                self.waiting.discard((loop, event))
