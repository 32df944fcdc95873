"""Patches: a picture cut into squares, which a transformer reads as a sentence.

Dosovitskiy et al., "An image is worth 16x16 words", 2020. Nothing here learns or rounds: `patches` and
`unpatch` only put numbers in another order, so they take any dtype, whole numbers among them.
"""

import torch.nn.functional as F
from torch import Tensor


def patches(images: Tensor, size: int) -> Tensor:
    """Pictures as sentences: (batch, channels, height, width) to (batch, rows · columns, channels · size²).

    Patches follow each other as words do, row after row. Each is the numbers of its first channel, row after
    row, then those of the next: the order in which a convolution flattens its kernel.

    Raises ValueError for another shape, and for sides that the size does not divide: nothing is cut off or
    filled up in silence, so say which with `crop` or `pad`.
    """
    rows, columns = grid_of(images, size)
    batch, channels = images.shape[:2]
    unfolded = images.reshape(batch, channels, rows, size, columns, size)
    in_order = unfolded.permute(0, 2, 4, 1, 3, 5)  # (batch, rows, columns, channels, size, size)
    return in_order.reshape(batch, rows * columns, channels * size * size)


def unpatch(sequence: Tensor, size: int, grid: tuple[int, int]) -> Tensor:
    """The pictures that `patches` cut: (batch, rows · columns, channels · size²) to (batch, channels, height,
    width), with `grid` the rows and columns of patches.

    Raises ValueError for another shape, another number of patches, and a width that is no whole number of
    channels.
    """
    _check_size(size)
    rows, columns = grid
    if sequence.dim() != 3:
        raise ValueError(
            f"sequence must be (batch, patches, channels · size²), but is {tuple(sequence.shape)}"
        )
    batch, count, width = sequence.shape
    if rows < 0 or columns < 0 or count != rows * columns:
        raise ValueError(f"sequence has {count} patches; a grid of {rows} × {columns} has {rows * columns}")
    if width % (size * size):
        raise ValueError(
            f"a patch of this sequence has {width} numbers; expected a multiple of size² = {size * size}, "
            "as many times as there are channels"
        )
    channels = width // (size * size)
    in_order = sequence.reshape(batch, rows, columns, channels, size, size)
    unfolded = in_order.permute(0, 3, 1, 4, 2, 5)  # (batch, channels, rows, size, columns, size)
    return unfolded.reshape(batch, channels, rows * size, columns * size)


def crop(images: Tensor, size: int) -> Tensor:
    """The middle of the pictures, as many whole patches as fit: (batch, channels, height, width), each side
    the next multiple of `size` below. Of an odd number of pixels, one more goes on the right or below.

    Raises ValueError for another shape, and for a picture in which no patch fits.
    """
    _check_pictures(images)
    _check_size(size)
    height, width = images.shape[-2:]
    rows, columns = height // size, width // size
    if not rows or not columns:
        raise ValueError(
            f"no patch of {size} × {size} fits into {height} × {width} pixels: take a smaller size, or pad"
        )
    top, left = height % size // 2, width % size // 2
    return images[..., top : top + rows * size, left : left + columns * size]


def pad(images: Tensor, size: int) -> Tensor:
    """The pictures with zeros on the right and below: (batch, channels, height, width), each side the next
    multiple of `size` above.

    Raises ValueError for another shape.
    """
    _check_pictures(images)
    _check_size(size)
    height, width = images.shape[-2:]
    return F.pad(images, (0, -width % size, 0, -height % size))


def grid_of(images: Tensor, size: int) -> tuple[int, int]:
    """Rows and columns of patches in pictures (batch, channels, height, width). Raises as `patches` does."""
    _check_pictures(images)
    height, width = images.shape[-2:]
    return grid_for(height, width, size)


def grid_for(height: int, width: int, size: int) -> tuple[int, int]:
    """Rows and columns of patches in pictures of these sides. ValueError where size does not divide them."""
    _check_size(size)
    if height % size or width % size:
        raise ValueError(
            f"pictures of {height} × {width} pixels (height × width) cannot be cut into patches of "
            f"{size} × {size} without a rest: cut their edges off with mirada.crop(images, {size}), or fill "
            f"them up with mirada.pad(images, {size})"
        )
    return height // size, width // size


def _check_pictures(images: Tensor) -> None:
    if images.dim() != 4:
        raise ValueError(
            f"images must be (batch, channels, height, width), but are {tuple(images.shape)}"
            + (": write images[None] for a single one" if images.dim() == 3 else "")
        )


def _check_size(size: int) -> None:
    if type(size) is not int or size < 1:
        raise ValueError(f"size must be a whole number of at least 1, but is {size!r}")
