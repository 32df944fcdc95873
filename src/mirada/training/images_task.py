"""Tasks on pictures: who writes one says the pictures and what each of them is."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.models.config import VisionConfig
from mirada.models.vision import VisionTransformer
from mirada.training.data import fingerprints
from mirada.training.errors import TrainingError
from mirada.training.families import of_stack, placed
from mirada.training.options import TrainingOptions
from mirada.training.pictures import Picture, open_picture, squared
from mirada.training.task import Answer, Batch, Task

EVERY = 2**62
ABREAST = 256  # pictures whose fingerprints are made together: each pixel takes eight bytes meanwhile


class ImagesTask(Task):
    """A picture is given, and which of the `labels` it is must be said. `pictures` must be written.

    Attributes:
        labels: what a picture may be.
        side: of a picture, in pixels; all are squares.
        patch: side of a patch.
        channels: numbers of a pixel: 3 in colour, 1 in grey.
        brightest: what a pixel of full light is, of those that are darkest at 0.
        held_out: share of each label that is kept for the examination, one picture at least.
        train_size, validation_size: how many at most.
    """

    family = "vision"
    labels: Sequence[str] = ()
    side: int
    patch: int
    channels: ClassVar[int] = 3
    brightest: ClassVar[int] = 255
    held_out: ClassVar[float] = 0.25
    train_size = validation_size = EVERY

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return self.side // self.patch, self.side // self.patch

    def pictures(self) -> tuple[Batch, Sequence[str]]:
        """All there are, (count, channels, side, side) uint8, with the number of the label of each, (count,)
        int64; and what each is called, as `read` knows it.
        """
        raise NotImplementedError

    @cached_property
    def found(self) -> tuple[Batch, Tensor, dict[int, str]]:
        """The pictures, which are read once; their fingerprints, and by these what they are called."""
        every, names = self.pictures()
        marks = torch.cat([fingerprints(every[i : i + ABREAST]) for i in range(0, len(every), ABREAST)])
        return every, marks, dict(zip(marks.tolist(), names, strict=True))

    def pixels(self, picture: Picture) -> Tensor:
        """A picture of anybody's as one of this task: (channels, side, side) uint8."""
        pixels = squared(picture.pixels, self.side)
        return pixels if self.channels == 3 else in_grey(pixels)

    def describe(self) -> dict[str, Any]:
        told = super().describe()
        return {name: x for name, x in told.items() if x != EVERY}

    def vocabularies(self) -> tuple[Sequence[str], ...]:
        return (self.labels,)

    def data(self, seed: int) -> tuple[Batch, Batch]:
        """A share of each label is kept for the examination; a picture that was learnt from is not."""
        every, marks, _ = self.found
        order = torch.randperm(len(every), generator=torch.Generator().manual_seed(seed))
        kept = torch.zeros(len(every), dtype=torch.bool)
        for label in range(len(self.labels)):
            own = order[every.targets[order] == label]
            kept[own[: max(1, round(self.held_out * len(own)))]] = True
        learnt = order[~kept[order]][: self.train_size]
        examined = order[kept[order]]
        examined = examined[~torch.isin(marks[examined], marks[learnt])][: self.validation_size]
        if not len(examined):
            raise TrainingError("training.all_alike", task=self.called)
        return every[learnt], every[examined]

    def model(self, options: TrainingOptions) -> nn.Module:
        sizes = {"image_size": (self.side, self.side), "patch_size": self.patch, "channels": self.channels}
        return VisionTransformer(VisionConfig(**sizes, outputs=len(self.labels), **of_stack(options)))

    def run(self, model: nn.Module, batch: Batch, mask: Mask | None = None) -> Tensor:
        (pictures,) = batch.inputs
        return model(pictures / self.brightest)

    def read(self, text: str) -> tuple[Tensor, ...]:
        return (self.pixels(open_picture(text))[None],)

    def show(self, batch: Batch, index: int) -> tuple[str, str]:
        """What it is called, and what it is."""
        mark = int(fingerprints(batch[index : index + 1]))
        return self.found[2][mark], self.labels[int(batch.targets[index])]

    def answer(self, model: nn.Module, text: str) -> Answer:
        (pictures,) = placed(self.read(text), model)
        label = int(self.run(model, Batch((pictures,), pictures))[0].argmax())
        rows, columns = self.grid
        names = ("[CLS]", *map(str, range(1, rows * columns + 1)))
        return Answer(text, self.labels[label], (pictures,), (names,))


def in_grey(pixels: Tensor) -> Tensor:
    """(3, height, width) uint8 to (1, height, width): as bright as an eye finds it (ITU-R BT.601)."""
    shares = torch.tensor([0.299, 0.587, 0.114])[:, None, None]
    return (pixels * shares).sum(0, keepdim=True).round().to(torch.uint8)
