"""The vision transformer: an encoder that reads a picture as a sentence of patches."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.layers.patches import grid_for, grid_of, patches
from mirada.layers.positions import LearnedPositions
from mirada.models.config import VisionConfig
from mirada.models.parts import Stack


class PatchEmbedding(nn.Module):
    """The vector of each patch plus that of its place: (batch, channels, height, width) to (batch, length,
    d_model), with [CLS] first where the config has one.
    """

    def __init__(self, config: VisionConfig):
        super().__init__()
        self.config = config
        # A convolution that steps from patch to patch is this: one and the same projection of each.
        self.projection = nn.Linear(config.channels * config.patch_size**2, config.d_model)
        self.cls = nn.Embedding(1, config.d_model) if config.pooling == "cls" else None  # one word
        self.positions = None
        if config.positions == "learned":
            self.positions = LearnedPositions(config.length, config.d_model)

    def forward(self, images: Tensor) -> Tensor:
        """images: (batch, channels, height, width), of any size that the patches divide.

        Raises ValueError for another shape or number of channels, TypeError for whole numbers.
        """
        config = self.config
        grid = grid_of(images, config.patch_size)
        if images.shape[1] != config.channels or 0 in grid:
            raise ValueError(
                f"images must be (batch, {config.channels}, height, width) of at least one patch, but are "
                f"{tuple(images.shape)}"
            )
        if not images.is_floating_point():
            raise TypeError(f"images are {images.dtype}; expected floating point: write images / 255")
        x = self.projection(patches(images, config.patch_size))
        if self.cls is not None:
            x = torch.cat([self.cls.weight.expand(len(x), 1, -1).to(x.dtype), x], dim=1)
        return x if self.positions is None else x + self.places(grid).to(x.dtype)

    def places(self, grid: tuple[int, int]) -> Tensor:
        """The learned vectors of a grid of (rows, columns), (length, d_model), that of [CLS] first.

        For another grid than that of the config they are resampled, as a picture would be (bicubic), and to
        its very size: by a scale, 61 rows came out as 60 (dino#8, dinov2#378).

        Raises ValueError where no positions are learned.
        """
        if self.positions is None:
            raise ValueError('positions="none": this model learns none')
        table = self.positions.weight
        # Not by their number: 6 × 10 patches are as many as 10 × 6, and lie elsewhere.
        if grid == self.config.grid:
            return table
        first = len(table) - self.config.num_patches
        picture = table[first:].unflatten(0, self.config.grid).permute(2, 0, 1)[None]
        wide = picture.to(torch.promote_types(picture.dtype, torch.float32))
        resampled = F.interpolate(wide, size=grid, mode="bicubic", align_corners=False)
        return torch.cat([table[:first], resampled[0].flatten(1).mT.to(table.dtype)])


class VisionTransformer(nn.Module):
    """Pictures to logits, one answer each: (batch, channels, height, width) to (batch, outputs).

    Dosovitskiy et al., "An image is worth 16x16 words", 2020 (https://arxiv.org/abs/2010.11929), with the
    blocks of every other model here. The answer is read from [CLS], or from the mean of all patches.

    Raises:
        ValueError: sizes that do not fit.
    """

    def __init__(self, config: VisionConfig):
        super().__init__()
        self.config = config
        # The order in which the parameters draw their first values, as in every model here.
        self.embedding = PatchEmbedding(config)
        self.stack = Stack(config)
        self.output_proj = nn.Linear(config.d_model, config.outputs)

    def forward(self, images: Tensor) -> Tensor:
        """images (batch, channels, height, width) to logits (batch, outputs). They may be of another size
        than the config's, if the patches divide it. Raises what PatchEmbedding raises.
        """
        x = self.stack(self.embedding(images))  # (batch, length, d_model)
        return self.output_proj(x[:, 0] if self.config.pooling == "cls" else x.mean(1))

    def grid(self, images: Tensor | tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of patches in images (batch, channels, height, width), or in a (height, width).

        Raises ValueError for sides that the patches do not divide.
        """
        height, width = images.shape[-2:] if isinstance(images, Tensor) else images
        return grid_for(height, width, self.config.patch_size)

    def tokens(self, images: Tensor | tuple[int, int]) -> list[str]:
        """Names of what is read of images (batch, channels, height, width), or of a (height, width): "[CLS]",
        then "0", "1", … row after row; for `gaze.tokens`. Raises what `grid` raises.
        """
        rows, columns = self.grid(images)
        numbers = [str(number) for number in range(rows * columns)]
        return ["[CLS]", *numbers] if self.config.pooling == "cls" else numbers
