"""What a vision transformer makes of a picture, and where each patch looks meanwhile.

Imports torch: whoever only lists runs does without. Nothing of a picture is kept.
"""

import base64
import binascii
import threading
import warnings
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mirada.lab.files import last_checkpoint
from mirada.lab.problems import Problem
from mirada.layers.patches import crop
from mirada.models.config import VisionConfig
from mirada.models.vision import VisionTransformer
from mirada.training.errors import TrainingWarning
from mirada.training.images_task import ImagesTask
from mirada.training.pictures import Picture, open_picture
from mirada.training.runs import Run, load_run
from mirada.watching.watch import watch

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST = 640  # pixels of a side that the page keeps of a person's picture
PATCH, SIDE = 16, 160  # of what the new model reads: the sample of the lesson is 96 × 160
# One picture at a time: each may take some 200 MB while it is read.
turn = threading.Lock()


def opened(data: bytes, name: str) -> dict[str, Any]:
    """A person's picture as a PNG in base64, its size, and what was done to it. Raises PictureError,
    which calls it by `name`.
    """
    with turn:
        picture = open_picture(data, name)
        height, width = picture.pixels.shape[-2:]
        factor = min(1.0, LARGEST / max(height, width))
        small = resized(picture.pixels, max(1, round(height * factor)), max(1, round(width * factor)))
    return {"width": width, "height": height, "picture": png(small), "notes": list(picture.notes)}


def seen_by_new(text: str, name: str) -> dict[str, Any]:
    """Where each patch of a picture (base64) looks in a model that has learnt nothing."""
    pixels = fitted(picture_in(text, name).pixels)
    with turn:
        model = new_model(*pixels.shape[-2:])
        return {"pixels": png(pixels)} | seen(model, pixels[None] / 255, None)


def seen_by_run(folder: Path, text: str, name: str) -> dict[str, Any]:
    """The same in a run that has learnt from pictures, and what it takes this one for."""
    picture = picture_in(text, name)
    with turn:
        run = run_in(folder)
        assert isinstance(run.task, ImagesTask)
        pixels = run.task.pixels(picture)
        return {"pixels": png(pixels)} | seen_by_task(run, pixels)


def seen_digit(folder: Path, cells: list[int]) -> dict[str, Any]:
    """The same in a run of `digits`, of 64 whole numbers from 0 to 16."""
    pixels = torch.tensor(cells, dtype=torch.uint8).reshape(1, 8, 8)
    with turn:
        return {"pixels": png((pixels * 15.9375).to(torch.uint8))} | seen_by_task(run_in(folder), pixels)


def seen_by_task(run: Run, pixels: Tensor) -> dict[str, Any]:
    assert isinstance(run.task, ImagesTask)
    return seen(run.model, pixels[None] / run.task.brightest, list(run.task.labels))


def seen(model: Any, images: Tensor, labels: list[str] | None) -> dict[str, Any]:
    """images: (1, channels, height, width), from 0 to 1."""
    with torch.no_grad(), watch(model) as gaze:
        logits = model(images)
    tokens = model.tokens(images)
    shares = None if labels is None else logits[0].double().softmax(-1).tolist()
    return {
        "grid": list(model.grid(images)),
        "patch": model.config.patch_size,
        "channels": model.config.channels,
        "tokens": tokens,
        "probabilities": shares
        and [{"label": label, "share": share} for label, share in zip(labels or (), shares, strict=True)],
        "scenes": [
            {"block": block, "head": head, "scene": short(look.scene(head, tokens=tokens).to_dict())}
            for block, look in enumerate(gaze)
            for head in range(len(look.heads))
        ],
    }


def short(scene: dict[str, Any]) -> dict[str, Any]:
    """Vectors with five decimals: what they are in float32, and half as long to send."""
    for part in ("query", "key"):
        scene[part] = [[round(x, 5) for x in vector] for vector in scene[part]]
    return scene


@lru_cache(8)
def new_model(height: int, width: int) -> VisionTransformer:
    """One that has learnt nothing, with seed 0, for pictures of a size."""
    config = VisionConfig(
        image_size=(height, width), patch_size=PATCH, outputs=10, d_model=64, num_heads=4, num_blocks=3
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return VisionTransformer(config).eval()


def run_in(folder: Path) -> Run:
    """A run, read once as long as nobody trains it further."""
    return read_run(folder, last_checkpoint(folder))


@lru_cache(4)
def read_run(folder: Path, checkpoint: Path | None) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        return load_run(folder)


def picture_in(text: str, name: str) -> Picture:
    """Problem 422 for what is no base64; PictureError for what is no picture."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Problem(422, "body", {"want": '{"model": "…", "picture": "iVBORw0KGgo…"}'}) from None
    with turn:
        return open_picture(data, name)


def fitted(pixels: Tensor) -> Tensor:
    """A picture (3, height, width) as the new model reads it: its longer side is about SIDE, both are whole
    patches. Of one that is very long or very high the middle is taken.
    """
    height, width = pixels.shape[-2:]
    factor = max(SIDE / max(height, width), PATCH / min(height, width))
    whole = resized(pixels, max(PATCH, round(height * factor)), max(PATCH, round(width * factor)))
    top, left = (max(0, side - SIDE) // 2 for side in whole.shape[-2:])
    return crop(whole[None, :, top : top + SIDE, left : left + SIDE], PATCH)[0]


def resized(pixels: Tensor, height: int, width: int) -> Tensor:
    """(3, height, width) uint8, smoothed where it becomes smaller."""
    if tuple(pixels.shape[-2:]) == (height, width):
        return pixels
    image = as_image(pixels).resize((width, height))
    found = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return found.reshape(height, width, 3).permute(2, 0, 1)


def as_image(pixels: Tensor) -> "Image":
    """(1 or 3, height, width) uint8."""
    from PIL import Image

    channels, height, width = pixels.shape
    data = pixels.permute(1, 2, 0).contiguous().numpy().tobytes()
    return Image.frombytes("L" if channels == 1 else "RGB", (width, height), data)


def png(pixels: Tensor) -> str:
    """In base64."""
    file = BytesIO()
    as_image(pixels).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()
