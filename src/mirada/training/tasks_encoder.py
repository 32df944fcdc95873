"""Built-in tasks for an encoder: rows of eight digits, and an answer at each position."""

from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from mirada.training.families import EncoderTask

# For what takes more than one look from a place that is always the same.
LARGER = {"epochs": 6, "d_model": 64, "heads": 4, "blocks": 2, "schedule": "cosine", "lr": 2e-3}


class Reverse(EncoderTask):
    """The row backwards: position i must look at position 7 − i. Without positions it cannot."""

    name = "reverse"

    def targets(self, rows: Tensor) -> Tensor:
        return rows.flip(1)


class Copy(EncoderTask):
    """The row as it is: each position can do it alone, with no look at the others."""

    name = "copy"

    def targets(self, rows: Tensor) -> Tensor:
        return rows.clone()


class Shift(EncoderTask):
    """Everything one place to the right, the last digit in front: each looks at the one before it."""

    name = "shift"

    def targets(self, rows: Tensor) -> Tensor:
        return rows.roll(1, 1)


class Sort(EncoderTask):
    """The digits in ascending order: whom to look at depends on what stands there, not on where."""

    name = "sort"
    defaults: ClassVar = LARGER

    def targets(self, rows: Tensor) -> Tensor:
        return rows.sort(1).values


class Count(EncoderTask):
    """How often the digit of each position stands in the row: who is alike looks at each other."""

    name = "count"
    outputs = "12345678"
    defaults: ClassVar = LARGER

    def targets(self, rows: Tensor) -> Tensor:
        return F.one_hot(rows, len(self.symbols)).sum(1).gather(1, rows) - 1  # token 0 stands for "1"
