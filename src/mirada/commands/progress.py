"""The progress bar of `mirada train`: how far, how good, how fast, how long still."""

import shutil
import sys
from typing import Any

from torch import Tensor
from tqdm import tqdm

from mirada.catalogue import Language, say
from mirada.training.runs import Run
from mirada.training.stopping import Listener
from mirada.views.terminal import decimal, percent

WIDE = "{percentage:3.0f} % {bar} {n_fmt}/{total_fmt} · {speed} · {elapsed} < {remaining}{said}"
NARROW = "{percentage:3.0f} % {bar} {n_fmt}/{total_fmt} · {remaining}{said}"
ROOM = 90  # letters of a line, for all that the wide one says


class Line(tqdm):
    """tqdm's line, with numbers as the reader writes them."""

    language: Language = "en"
    said = ""

    @property
    def format_dict(self) -> dict[str, Any]:
        told = super().format_dict
        rate = decimal(told["rate"], self.language) if told["rate"] else "?"
        return {**told, "speed": f"{rate}{self.unit}/s", "said": self.said}


class Bar(Listener):
    """On stderr, and only where that is a terminal."""

    def __init__(self, language: Language):
        self.language: Language = language
        self.bar: Line | None = None
        self.told: dict[str, str] = {}

    def on_start(self, run: Run, steps: int) -> None:
        width = shutil.get_terminal_size().columns - 1  # 79 where a terminal does not say
        self.bar = Line(
            total=steps,
            initial=run.step,
            unit=say("cli.run_unit", self.language),
            bar_format=WIDE if width >= ROOM else NARROW,
            leave=False,
            ncols=min(110, width),
            nrows=20,  # a terminal of unknown height would get no bar
            file=sys.stderr,
            disable=None,  # where stderr is no terminal
        )
        self.bar.language = self.language

    def on_step(self, step: int, loss: Tensor) -> None:
        assert self.bar is not None
        self.bar.update()

    def on_line(self, line: dict[str, Any]) -> None:
        assert self.bar is not None
        self.told["loss"] = say("cli.run_loss", self.language, loss=decimal(line["loss"], self.language))
        if line["kind"] == "validation":
            share = percent(line["tokens"], self.language, 1)
            self.told["right"] = say("cli.run_right", self.language, share=share)
        self.bar.said = "".join(f" · {each}" for each in self.told.values())

    def close(self) -> None:
        """Make room for what is said next."""
        if self.bar is not None:
            self.bar.close()
