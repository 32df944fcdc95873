"""A task: where its data comes from, which model it wants, and how an answer is judged and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.layers.masks import Mask

if TYPE_CHECKING:
    from mirada.training.options import TrainingOptions

IGNORED = -100  # a target that is not asked for
Family = Literal["encoder", "decoder", "encoder_decoder", "vision"]


@dataclass(frozen=True)
class Batch:
    """Samples to learn from: the first dimension of every tensor is the sample, the others are the task's.

    Args:
        inputs: what the model is given, (batch, …) each.
        targets: what it should answer, (batch, …) int64; −100 where nothing is asked.
    """

    inputs: tuple[Tensor, ...]
    targets: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, which: Tensor | slice) -> "Batch":
        return Batch(tuple(x[which] for x in self.inputs), self.targets[which])

    def to(self, device: torch.device | str) -> "Batch":
        """The same samples there."""
        return Batch(tuple(x.to(device) for x in self.inputs), self.targets.to(device))


class Score(NamedTuple):
    """How good answers are: the mean loss, and the shares of tokens and of whole sequences that are right."""

    loss: float
    tokens: float
    sequences: float


@dataclass(frozen=True)
class Answer:
    """What a model answered.

    Args:
        question, text: as a person reads them.
        inputs: what the model was given, (1, length) each. Given again, it looks as it did when it answered.
        tokens: names of the positions of each input.
    """

    question: str
    text: str
    inputs: tuple[Tensor, ...]
    tokens: tuple[tuple[str, ...], ...]


class Task:
    """Something to learn. `EncoderTask` and its like (families.py) do most of it for rows of symbols, and
    `ImagesTask` (images_task.py) for pictures.

    Attributes:
        name: what it is called.
        family: "encoder", "decoder", "encoder_decoder" or "vision".
        train_size, validation_size: how many samples are learnt from, and how many examined.
        defaults: options that differ from those of TrainingOptions.
        file: where it was read from, if it was.
    """

    name: ClassVar[str] = ""
    family: ClassVar[Family]
    train_size: int = 20_000
    validation_size: int = 2_000
    defaults: ClassVar[Mapping[str, Any]] = {}
    file: str | None = None

    # What each task must say.

    def examples(self, count: int, generator: torch.Generator) -> Batch:
        """`count` samples, drawn with `generator` and nothing else."""
        raise NotImplementedError

    def model(self, options: "TrainingOptions") -> nn.Module:
        """A new model, as the options want it."""
        raise NotImplementedError

    def read(self, text: str) -> tuple[Tensor, ...]:
        """What a person typed, as the inputs of one sample, (1, …) each; TrainingError where it cannot be."""
        raise NotImplementedError

    def show(self, batch: Batch, index: int) -> tuple[str, str]:
        """Question and right answer of one sample, as a person reads them."""
        raise NotImplementedError

    def answer(self, model: nn.Module, text: str) -> Answer:
        """What the model makes of what a person typed."""
        raise NotImplementedError

    # What holds for all unless a task says otherwise.

    def describe(self) -> dict[str, Any]:
        """What it takes to find this task again, ready for JSON."""
        if self.file is not None:
            return {"name": self.name, "file": self.file}
        return {"name": self.name, "train_size": self.train_size, "validation_size": self.validation_size}

    @property
    def called(self) -> str:
        """Where to look for it: its file, or else its name."""
        return self.file or self.name

    def vocabularies(self) -> tuple[Sequence[str], ...]:
        """The symbols that tokens stand for, in their order: with others it is another task."""
        return ()

    def data(self, seed: int) -> tuple[Batch, Batch]:
        """What is learnt from and what is examined, which has nothing of the first."""
        from mirada.training.checking import check_batch
        from mirada.training.data import split

        def draw(count: int, generator: torch.Generator) -> Batch:
            return check_batch(self, self.examples(count, generator), count)

        return split(draw, self.train_size, self.validation_size, seed)

    def mask(self, options: "TrainingOptions") -> Mask | None:
        """Who may look at whom, besides what the model's family says."""
        return Mask.causal() if options.causal else None

    def run(self, model: nn.Module, batch: Batch, mask: Mask | None = None) -> Tensor:
        """Logits for the targets of a batch: (batch, …, outputs)."""
        return model(*batch.inputs) if mask is None else model(*batch.inputs, mask=mask)

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """What training makes small, a scalar: of logits (batch, …, outputs) and targets (batch, …)."""
        return loss(logits, targets)

    def judge(self, logits: Tensor, targets: Tensor) -> Score:
        """How good answers are: of logits (batch, …, outputs) and targets (batch, …)."""
        return judge(logits, targets)


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the targets that are asked for; 0 where none is.

    Args:
        logits: (batch, …, outputs).
        targets: (batch, …) int64, −100 where nothing is asked.
    """
    total = F.cross_entropy(
        logits.flatten(0, -2).float(), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )
    # PyTorch's own mean is NaN where all are ignored (pytorch#116349).
    return total / (targets != IGNORED).sum().clamp(min=1)


def judge(logits: Tensor, targets: Tensor) -> Score:
    """Which answers are right: those whose largest logit is the target's. A sequence is if all of it is.

    In a decoder each token is judged after the right ones before it. Where all are right, these are the
    tokens that it would have written itself, one by one: so a sequence is right exactly when greedy
    generation is.

    Args:
        logits: (batch, …, outputs).
        targets: (batch, …) int64, −100 where nothing is asked.
    """
    asked = targets != IGNORED
    right = (logits.argmax(-1) == targets) & asked
    return Score(
        loss(logits, targets).item(),
        (right.sum() / asked.sum().clamp(min=1)).item(),
        (right | ~asked).reshape(len(targets), -1).all(1).float().mean().item(),
    )
