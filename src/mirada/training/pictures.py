"""Pictures of people: read from what they have, or refused with a sentence that says why.

What comes from outside is not to be trusted. The size is known before anything is decoded, only a few formats
are read, and whatever a decoder stumbles over is a PictureError, never something else.
"""

import io
import math
import os
import stat
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from mirada.training.errors import TrainingError

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFile import ImageFile

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
PHONES = (b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif", b"avis")  # brands of HEIC and AVIF
MOST_BYTES = 20 * 10**6
MOST_PIXELS = 50 * 10**6  # as decoded: 200 MB with transparency
ORIENTATION = 0x0112  # in EXIF: how the camera was held
GREY = ("1", "L", "LA", "La", "I", "F")
Range = tuple[float, float]
ONE_AT_A_TIME = threading.Lock()


class PictureError(TrainingError):
    """No picture can be had from a file; as TrainingError."""


@dataclass(frozen=True)
class Picture:
    """A picture as one sees it.

    Args:
        pixels: (3, height, width) uint8: red, green, blue.
        notes: what was done to it: "rotated" as its EXIF says, "transparent" parts laid on white, the
            "first_frame" of several taken, "grey" given three times, "stretched" from darkest to brightest
            because its numbers say no range.
    """

    pixels: Tensor
    notes: tuple[str, ...] = ()


def open_picture(source: str | Path | bytes, name: str = "") -> Picture:
    """The picture in a file, or in the bytes of one.

    PNG, JPEG, WebP, GIF, BMP and TIFF of at most 20 MB and 50 million pixels.

    Args:
        name: what an error calls it: the path, where there is one, unless given.

    Raises:
        PictureError: it cannot be read, is none, is damaged or too large; or Pillow is not installed.
    """
    name = name or ("picture" if isinstance(source, bytes) else str(source))
    data = source if isinstance(source, bytes) else bytes_of(Path(source), name)
    if not data:
        raise PictureError("picture.empty", name=name)
    if len(data) > MOST_BYTES:
        raise PictureError("picture.large", name=name, most=MOST_BYTES // 10**6)
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise PictureError("picture.no_pillow") from error
    # Pillow warns of what is odd in a file: nobody can do anything about it, and either it is read or not.
    # The filters of warnings belong to all threads; and one large picture at a time is enough for a memory.
    with ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return decoded(Image.open(io.BytesIO(data), formats=FORMATS))
        except UnidentifiedImageError:
            key = "picture.phone" if data[4:8] == b"ftyp" and data[8:12] in PHONES else "picture.unknown"
            raise PictureError(key, name=name) from None
        except (Image.DecompressionBombError, TooManyPixels):
            raise PictureError("picture.bomb", name=name, most=MOST_PIXELS // 10**6) from None
        except Exception as error:  # given nonsense, a decoder raises nearly anything
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise PictureError("picture.broken", name=name, reason=reason) from None


def bytes_of(path: Path, name: str) -> bytes:
    """All of a file, and no more than one byte over the limit."""
    try:
        kind = os.stat(path).st_mode
        if not stat.S_ISREG(kind):  # a folder, or a pipe in which nothing may ever come
            raise PictureError("picture.no_file", name=name)
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise PictureError("picture.unreadable", name=name, reason=error.strerror or error) from None
    except ValueError as error:  # a zero byte in a path
        raise PictureError("picture.unreadable", name=name, reason=error) from None


class TooManyPixels(Exception):
    """A header says so."""


def decoded(image: "ImageFile") -> Picture:
    if image.width * image.height > MOST_PIXELS:
        raise TooManyPixels
    notes = []
    # Before the pixels are there: a TIFF then forgets how it lay.
    orientation = image.getexif().get(ORIENTATION)
    if image.format != "MPO" and getattr(image, "is_animated", False):  # MPO: the second is a preview
        notes.append("first_frame")
    image.load()
    left = image.getexif().get(ORIENTATION)
    if orientation in range(2, 9):
        notes.append("rotated")
    grey = image.mode in GREY or image.mode.startswith("I;16")
    flat: Image.Image = image
    if image.mode.startswith("I") or image.mode == "F":
        flat, stretched = in_bytes(image)
        notes += ["stretched"] * stretched
    if flat.has_transparency_data:
        flat, seen_through = on_white(flat)
        notes += ["transparent"] * seen_through
    flat = flat.convert("RGB")
    if (turn := turns().get(left)) is not None:
        flat = flat.transpose(turn)
    if grey:
        notes.append("grey")
    pixels = torch.frombuffer(bytearray(flat.tobytes()), dtype=torch.uint8)
    pixels = pixels.reshape(flat.height, flat.width, 3).permute(2, 0, 1).contiguous()
    return Picture(pixels, tuple(sorted(notes)))


def turns() -> "dict[int | None, Image.Transpose]":
    """For each orientation of EXIF what brings the picture upright."""
    from PIL.Image import Transpose

    return {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }


def on_white(image: "Image.Image") -> "tuple[Image.Image, bool]":
    """What can be seen through laid on white, and whether anything can."""
    from PIL import Image

    image = image.convert("RGBA")
    lowest, _ = cast(Range, image.getchannel("A").getextrema())
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, image), lowest < 255


def in_bytes(image: "Image.Image") -> "tuple[Image.Image, bool]":
    """Grey of 16 or 32 bits in 8, and whether it was stretched. Pillow itself would cut off above 255.

    Raises ValueError for numbers without end.
    """
    low, high = 0.0, 65535.0
    stretched = not image.mode.startswith("I;16") and not (image.mode == "I" and image.format == "PNG")
    values = image.convert("F" if image.mode == "F" else "I").convert("F")
    if stretched:
        low, high = cast(Range, values.getextrema())
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"{low:g} – {high:g}")
    factor = 255 / (high - low or 1)
    # Half more, since what comes next rounds down.
    return values.point(lambda value: value * factor + (0.5 - low * factor)).convert("L"), stretched


def squared(pixels: Tensor, side: int) -> Tensor:
    """The middle of a picture, (channels, height, width), as a square of `side` pixels, uint8 as it was."""
    import torch.nn.functional as F

    height, width = pixels.shape[-2:]
    small = min(height, width)
    top, left = (height - small) // 2, (width - small) // 2
    middle = pixels[:, top : top + small, left : left + small]
    # Antialiased, or else one pixel of many is taken where a photograph becomes small.
    return F.interpolate(middle[None], size=(side, side), mode="bilinear", antialias=True)[0]
