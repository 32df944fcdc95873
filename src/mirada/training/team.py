"""Who learns a model: one process alone, here; `several.py` says what differs where there are more."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn

from mirada.training.options import TrainingOptions
from mirada.training.stopping import Stop
from mirada.training.task import Batch

if TYPE_CHECKING:
    from mirada.training.job import Plan

T = TypeVar("T")


class Alone:
    """One process, which does everything.

    Attributes:
        first: whether this is the process that writes files, prints, and tells the listener.
        world: how many processes there are.
    """

    first, world = True, 1

    def noticing(self) -> AbstractContextManager:
        """That another process is gone, or silent, as a TrainingError."""
        return nullcontext()

    def planned(self, make: "Callable[[Any], Plan]") -> "Plan":
        """What `make(None)` plans, and in the other processes `make` of the folder that the first one has."""
        return make(None)

    def from_first(self, work: Callable[[], T]) -> T:
        """What `work` gives, or the exception it raises, in the first process: in all of them."""
        return work()

    def check(self, options: TrainingOptions) -> None:
        """TrainingError for options that so many processes cannot work with."""

    def spread(self, model: nn.Module) -> nn.Module:
        """What is called in place of the model, to learn."""
        return model

    def seed(self, seed: int, step: int) -> None:
        """Before a step: what it draws, in dropout, differs between processes."""

    def share(self, batch: Batch) -> Batch:
        """This process's samples of a batch."""
        return batch

    def backward(self, loss: Tensor, batch: Batch) -> Tensor:
        """Gradients of the loss of the whole batch, from that of this process's share of it.

        Gives the loss of the whole, as a scalar that nobody has waited for.
        """
        loss.backward()
        return loss.detach()

    def whole(self, part: Tensor, samples: int) -> Tensor:
        """(samples, …), from what each process has of its share of them."""
        return part

    def ends(self, stop: Stop) -> bool:
        """Whether somebody asked for the end, in any process: all give the same answer."""
        return stop.asked

    def is_sound(self, model: nn.Module) -> bool:
        """Whether all weights are finite."""
        return bool(torch.stack([x.isfinite().all() for x in model.parameters()]).all())

    def gathered(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[Mapping[str, Any], dict[str, dict[str, Tensor]]]:
        """The model's weights and, for each parameter by name, what the optimizer keeps.

        They are whole in the first process; in the others they may be empty.
        """
        names = [name for name, _ in model.named_parameters()]
        state = optimizer.state_dict()["state"]
        return model.state_dict(), {names[i]: entries for i, entries in state.items()}

    def give(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, dict[str, Tensor]]
    ) -> None:
        """To the optimizer what `gathered` once gave."""
        number = {name: i for i, (name, _) in enumerate(model.named_parameters())}
        by_number = {number[name]: entries for name, entries in state.items()}
        optimizer.load_state_dict(optimizer.state_dict() | {"state": by_number})

    def plain(self, model: nn.Module, new: Callable[[], nn.Module]) -> nn.Module:
        """The model as one that this process can use by itself. `new` makes one that has yet to learn."""
        return model
