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

FORMAT = "{percentage:3.0f} % {bar} {n_fmt}/{total_fmt} · {rate_fmt} · {elapsed} < {remaining}{postfix}"


class Bar(Listener):
    """On stderr, and only where that is a terminal."""

    def __init__(self, language: Language):
        self.language: Language = language
        self.bar: tqdm | None = None
        self.told: dict[str, str] = {}

    def on_start(self, run: Run, steps: int) -> None:
        self.bar = tqdm(
            total=steps,
            initial=run.step,
            unit=say("cli.run_unit", self.language),
            bar_format=FORMAT,
            leave=False,
            ncols=min(100, shutil.get_terminal_size().columns - 1),  # 80 where a terminal does not say
            nrows=20,  # a terminal of unknown height would get no bar
            file=sys.stderr,
            disable=None,  # where stderr is no terminal
        )

    def on_step(self, step: int, loss: Tensor) -> None:
        assert self.bar is not None
        self.bar.update()

    def on_line(self, line: dict[str, Any]) -> None:
        assert self.bar is not None
        self.told["loss"] = say("cli.run_loss", self.language, loss=decimal(line["loss"], self.language))
        if line["kind"] == "validation":
            share = percent(line["tokens"], self.language, 1)
            self.told["right"] = say("cli.run_right", self.language, share=share)
        self.bar.set_postfix_str(" · ".join(self.told.values()), refresh=False)

    def close(self) -> None:
        """Make room for what is said next."""
        if self.bar is not None:
            self.bar.close()
