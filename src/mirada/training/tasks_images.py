"""Built-in tasks on pictures: handwritten digits, and anybody's own folder of pictures by class."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.images_task import ImagesTask, in_grey
from mirada.training.pictures import Picture, PictureError, open_picture
from mirada.training.task import Batch

# A few hundred pictures, many times: pictures have less to learn from than rows of symbols have.
LEARNT = {
    "epochs": 60,
    "d_model": 64,
    "heads": 4,
    "blocks": 2,
    "schedule": "cosine",
    "warmup": 50,
    "lr": 2e-3,
}
MOST_SIDE, MOST_PATCHES = 1024, 4096  # of a picture: all of its patches look at all
LEAST = 2  # pictures of a class: one to learn from, one to be examined on


class Digits(ImagesTask):
    """The 1,797 handwritten digits of 8 × 8 pixels that come with scikit-learn, in patches of 2.

    E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI, 1998: of 32 × 32 black and
    white pixels, those of ink were counted in each square of 4 × 4, from 0 to 16.

    A digit is called by its number, 0 to 1796; `read` takes a picture of anybody's as well.
    """

    name = "digits"
    labels = "0123456789"
    side, patch, channels, brightest = 8, 2, 1, 16
    train_size, validation_size = 1347, 450
    defaults: ClassVar = LEARNT

    def pictures(self) -> tuple[Batch, Sequence[str]]:
        try:
            from sklearn.datasets import load_digits
        except ModuleNotFoundError as error:
            raise TrainingError("training.missing", task=self.name, name="scikit-learn") from error
        pixels, targets = map(torch.as_tensor, load_digits(return_X_y=True))
        pixels = pixels.to(torch.uint8).reshape(-1, 1, self.side, self.side)
        return Batch((pixels,), targets.long()), [str(number) for number in range(len(pixels))]

    def read(self, text: str) -> tuple[Tensor, ...]:
        if not (text.isascii() and text.isdigit()):
            return super().read(text)
        pictures = self.pictures()[0].inputs[0]
        if int(text) >= len(pictures):
            raise TrainingError("training.no_digit", number=text, last=len(pictures) - 1)
        return (pictures[int(text)][None],)

    def pixels(self, picture: Picture) -> Tensor:
        """As theirs were made: the ink bright, cut out, and counted in 8 × 8 squares."""
        grey = in_grey(picture.pixels)[0].float()
        edge = torch.cat((grey[0], grey[-1], grey[:, 0], grey[:, -1])).median()
        ink = (grey - edge).abs()
        ink = ink / ink.max().clamp(min=1)
        marked = ink > 0.5
        if marked.any():
            down, across = marked.any(1).nonzero()[:, 0], marked.any(0).nonzero()[:, 0]
            ink = ink[down[0] : down[-1] + 1, across[0] : across[-1] + 1]
        # Theirs fill the height; what is narrow stands in the middle.
        height, width = ink.shape
        more = max(height, width)
        left, top = (more - width) // 2, (more - height) // 2
        ink = F.pad(ink, (left, more - width - left, top, more - height - top))
        small = F.interpolate(ink[None, None], size=(8, 8), mode="area")[0]
        return (small * self.brightest).round().to(torch.uint8)


class ImageFolder(ImagesTask):
    """A folder of pictures: in each of its own folders those of one class, which is called as it is.

    The middle of each picture is made a square of `side` pixels. What cannot be read is left out, and a
    TrainingWarning says which file, and why. Hidden files are ignored.

    Args:
        folder: where the classes are.
        side, patch: of a picture and of a patch, in pixels.
        labels: of a run that is read back, which can answer where the folder is gone.

    Raises:
        TrainingError: a folder that cannot be read, or has fewer than two classes; sizes that do not fit.
    """

    name = "images"
    defaults: ClassVar = LEARNT

    def __init__(self, folder: str | Path, side: int = 64, patch: int = 8, labels: Sequence[str] = ()):
        if side < patch or side % patch:
            raise TrainingError("training.patches", side=side, patch=patch)
        if side > MOST_SIDE or (side // patch) ** 2 > MOST_PATCHES:
            limits = {"pixels": MOST_SIDE, "most": MOST_PATCHES}
            raise TrainingError("training.too_large", side=side, patch=patch, **limits)
        self.folder, self.side, self.patch = Path(folder).resolve(), side, patch
        self.labels = list(labels) or sorted(self.classes())
        if len(self.labels) < 2:
            raise TrainingError("training.few_classes", folder=legible(self.folder), found=len(self.labels))

    def describe(self) -> dict[str, Any]:
        told = {"folder": str(self.folder), "side": self.side, "patch": self.patch, "labels": self.labels}
        return super().describe() | told

    def classes(self) -> dict[str, Path]:
        """Where the pictures of each label are. TrainingError where nothing can be read."""
        try:
            inside = sorted(self.folder.iterdir())
        except OSError as error:
            raise TrainingError(
                "training.unreadable", path=legible(self.folder), reason=error.strerror or error
            ) from None
        return {legible(path.name): path for path in inside if path.is_dir() and not hidden(path.name)}

    def pictures(self) -> tuple[Batch, Sequence[str]]:
        classes = self.classes()
        squares: list[Tensor] = []
        targets: list[int] = []
        names: list[str] = []
        unread = 0
        for number, label in enumerate(self.labels):
            for path in files_in(classes[label]) if label in classes else ():
                try:
                    squares.append(self.pixels(open_picture(path, legible(path))))
                except PictureError as error:
                    if error.key == "picture.no_pillow":
                        raise
                    warnings.warn(TrainingWarning(error.key, **error.values), stacklevel=2)
                    unread += 1
                    continue
                targets.append(number)
                names.append(legible(path))
            if (found := targets.count(number)) < LEAST:
                told = {"label": label, "folder": legible(self.folder), "found": found, "least": LEAST}
                raise TrainingError("training.few_pictures", **told)
        if unread:
            told = {"left": unread, "all": unread + len(names)}
            warnings.warn(TrainingWarning("training.left_out", **told), stacklevel=2)
        return Batch((torch.stack(squares),), torch.tensor(targets)), names


def files_in(folder: Path) -> list[Path]:
    """Those of a folder and of all in it, in the order of their names; links to folders are not followed."""
    found = []
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not hidden(name)]
        found += [Path(path, name) for name in files if not hidden(name)]
    return sorted(found)


def hidden(name: str) -> bool:
    return name.startswith(".")


def legible(path: Path | str) -> str:
    """A name as it can be written: one that is not UTF-8 has letters in it that nobody can print."""
    return os.fsencode(path).decode("utf-8", "replace")
