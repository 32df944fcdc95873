"""The order of the data, and what nobody may have seen before the examination.

The order is that of PyTorch's own loader: `DataLoader(data, batch_size, shuffle=True, generator=g)`, epoch
after epoch, is the reference, and the figures of the lesson were measured on it. The loader fetches sample
by sample and stacks them again, which takes longer than a small model needs to learn from them. Here a
batch is a slice of a permutation: the same samples in the same order, and `g` is left in the same state.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from mirada.training.errors import TrainingError
from mirada.training.task import Batch


def epoch_order(size: int, generator: torch.Generator) -> Tensor:
    """Which sample comes when in the next epoch: (size,) int64, as the DataLoader draws it."""
    # The loader first draws a seed for workers, which it does not have (dataloader.py, _base_seed); its
    # sampler ends with a second permutation, of which it takes the first `size % size` (sampler.py,
    # RandomSampler).
    torch.empty((), dtype=torch.int64).random_(generator=generator)
    order = torch.randperm(size, generator=generator)
    torch.randperm(size, generator=generator)
    return order


class Order:
    """Batch after batch of sample numbers, without end; the last batch of an epoch may be smaller.

    Attributes:
        epoch: of the batch handed out last, from 0.
        ended: whether that was the last one of its epoch.
    """

    def __init__(self, size: int, batch_size: int, seed: int):
        self.size, self.batch_size = size, batch_size
        self.epoch, self.taken = -1, size  # as at the end of an epoch that never was
        self.generator = torch.Generator().manual_seed(seed)
        self.before = self.generator.get_state()  # what this epoch was drawn from
        self.permutation = torch.empty(0, dtype=torch.int64)

    @property
    def ended(self) -> bool:
        return self.taken >= self.size

    @property
    def batches(self) -> int:
        """How many there are in an epoch."""
        return -(-self.size // self.batch_size)

    def __next__(self) -> Tensor:
        """(batch_size,) int64."""
        if self.ended:
            self.epoch, self.taken = self.epoch + 1, 0
            self.before = self.generator.get_state()
            self.permutation = epoch_order(self.size, self.generator)
        batch = self.permutation[self.taken : self.taken + self.batch_size]
        self.taken += len(batch)
        return batch

    def state(self) -> tuple[Tensor, dict[str, int]]:
        """The random state that this epoch was drawn from, and how far it went."""
        return self.before, {"epoch": self.epoch, "taken": self.taken}

    def restore(self, before: Tensor, epoch: int, taken: int) -> None:
        """Go on where `state` was taken."""
        self.epoch, self.taken = epoch, taken
        self.before = before
        self.generator.set_state(before)
        if epoch >= 0:
            self.permutation = epoch_order(self.size, self.generator)


def split(
    draw: Callable[[int, torch.Generator], Batch], train_size: int, validation_size: int, seed: int
) -> tuple[Batch, Batch]:
    """What is learnt from, and what is examined: first the one is drawn, then the other.

    No sample of the second is in the first: one that is, is put aside and another one drawn after all the
    others.

    Raises TrainingError where so many different samples cannot be found.
    """
    generator = torch.Generator().manual_seed(seed)
    train = draw(train_size, generator)
    seen = fingerprints(train)
    validation = without(draw(validation_size, generator), seen)
    for _ in range(50):
        missing = validation_size - len(validation)
        if not missing:
            return train, validation
        more = without(draw(max(missing, 64), generator), seen)
        validation = join(validation, more[torch.arange(min(len(more), missing))])
    raise TrainingError("training.too_few", wanted=validation_size, found=len(validation))


def without(batch: Batch, seen: Tensor) -> Batch:
    """The samples whose fingerprints are not in `seen`."""
    return batch[~torch.isin(fingerprints(batch), seen)]


def fingerprints(batch: Batch) -> Tensor:
    """A number for the inputs of each sample, (samples,) int64: equal inputs, equal numbers.

    Two that differ agree once in 2⁶⁴: then a sample is put aside needlessly, but one that was seen never
    passes.
    """
    generator = torch.Generator().manual_seed(1)
    total = torch.zeros(len(batch), dtype=torch.int64)
    for x in batch.inputs:
        words = x.flatten(1).contiguous()
        words = words.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()])
        factors = torch.empty(words.shape[1], dtype=torch.int64).random_(-(2**63), None, generator=generator)
        total += (words * (factors | 1)).sum(1)  # wraps around, which is meant
    return total


def join(first: Batch, second: Batch) -> Batch:
    """The samples of both, one after the other."""
    pairs = zip(first.inputs, second.inputs, strict=True)
    return Batch(tuple(torch.cat(pair) for pair in pairs), torch.cat((first.targets, second.targets)))
