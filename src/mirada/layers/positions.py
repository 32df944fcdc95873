"""Positions: attention reads a sentence as a bag of words, so something must say which word stands where.

Three ways: vectors that are learned, vectors of sines and cosines, and rotary positions, which turn
each query and key so that their product depends on how far apart they stand.
"""

import torch
from torch import Tensor, nn


def sinusoidal_positions(
    length: int, d_model: int, *, device: torch.device | str | None = None, dtype: torch.dtype | None = None
) -> Tensor:
    """The vectors of the positions 0 to length - 1, of shape (length, d_model).

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model)):
    Vaswani et al. 2017, section 3.5. An odd d_model ends with a sine that has no cosine. Each number
    is computed in double precision and rounded once to `dtype` (PyTorch's default where None).

    Raises ValueError where length is negative or d_model is not positive.
    """
    if length < 0 or d_model < 1:
        raise ValueError(f"expected length >= 0 and d_model >= 1, got {length} and {d_model}")
    waves = _waves(torch.arange(length, device=device), d_model)
    return waves.to(torch.get_default_dtype() if dtype is None else dtype)


class SinusoidalPositions(nn.Module):
    """Adds the vectors of `sinusoidal_positions`. Nothing is learned, and no length is too long."""

    def __init__(self, d_model: int):
        """Raises ValueError where d_model is not positive."""
        super().__init__()
        if d_model < 1:
            raise ValueError(f"expected d_model >= 1, got {d_model}")
        self.d_model = d_model

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """x plus the vector of each position, in x's dtype: (..., length, d_model), as x.

        positions: whole numbers of shape (length,) or (..., length); 0 to length - 1 where None.
        Raises ValueError where x or positions do not fit, TypeError for positions that are not whole.
        """
        _check_width(x, self.d_model)
        positions = _whole_positions(positions, x.shape[:-1], x.device)
        return x + _waves(positions, self.d_model).to(x.dtype)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}"


class LearnedPositions(nn.Embedding):
    """Adds a learned vector to each position; knows the positions 0 to length - 1 and no others.

    The table is `weight`, of shape (length, d_model), initialised as any nn.Embedding.
    """

    def __init__(
        self,
        length: int,
        d_model: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        """Raises ValueError where length or d_model is not positive."""
        if length < 1 or d_model < 1:
            raise ValueError(f"expected length >= 1 and d_model >= 1, got {length} and {d_model}")
        super().__init__(length, d_model, device=device, dtype=dtype)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """x plus the vector of each position, in x's dtype: (..., length, d_model), as x.

        positions: whole numbers of shape (length,) or (..., length); 0 to length - 1 where None.
        Raises ValueError where x or positions do not fit, or where x is longer than the table;
        TypeError for positions that are not whole.
        """
        _check_width(x, self.embedding_dim)
        length = x.shape[-2]
        if positions is None:
            if length > self.num_embeddings:
                raise ValueError(
                    f"x has length {length}, but this table holds {self.num_embeddings} positions: "
                    f"shorten x, or build LearnedPositions({length}, {self.embedding_dim}) and train it"
                )
            return x + self.weight[:length].to(x.dtype)
        positions = _whole_positions(positions, x.shape[:-1], x.device)
        try:  # the values are not looked at beforehand: that would make a GPU wait and stop an export
            vectors = super().forward(positions.long())
        except IndexError as error:
            raise ValueError(
                f"positions run from {int(positions.min())} to {int(positions.max())}, but this table "
                f"holds 0 to {self.num_embeddings - 1}: shorten x, or build a longer LearnedPositions"
            ) from error
        return x + vectors.to(x.dtype)


class RotaryPositions(nn.Module):
    """Turns the pairs of each query and key by angles that grow with the position.

    Pair i turns by position / base^(2i / head_dim): RoFormer, Su et al. 2021, equation 34. Turned so, the
    product of a query and a key depends on the difference of their positions only, and no vector
    changes its length.

    layout: which numbers make a pair. "half": i and i + head_dim / 2, as in GPT-NeoX, Llama and
    Hugging Face. "interleaved": 2i and 2i + 1, as in RoFormer and in Meta's own Llama weights. A
    model reads sense only in the layout that it was trained with.

    It holds no tensor, so casting a model to half precision cannot round its frequencies.
    """

    def __init__(self, head_dim: int, *, base: float = 10000.0, layout: str = "half"):
        """Raises ValueError where head_dim is odd or not positive, base not positive, layout unknown."""
        super().__init__()
        if head_dim < 1 or head_dim % 2:
            raise ValueError(f"rotary positions turn pairs, so head_dim must be even, got {head_dim}")
        if not base > 0:
            raise ValueError(f"expected base > 0, got {base}")
        if layout not in ("half", "interleaved"):
            raise ValueError(f'expected layout "half" or "interleaved", got {layout!r}')
        self.head_dim, self.base, self.layout = head_dim, base, layout

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """x turned, with x's shape and dtype: (batch, heads, length, head_dim).

        positions: whole numbers of shape (length,) or (batch, length); 0 to length - 1 where None.
        Half precision is turned in float32 and rounded once. Raises ValueError where x or positions
        do not fit, TypeError for positions that are not whole.
        """
        if x.dim() != 4 or x.shape[-1] != self.head_dim:
            expected = f"(batch, heads, length, {self.head_dim})"
            raise ValueError(f"expected x of shape {expected}, got {tuple(x.shape)}")
        positions = _whole_positions(positions, (x.shape[0], x.shape[2]), x.device)
        angles = _angles(positions, self.head_dim, self.base)  # (length, pairs) or (batch, length, pairs)
        if angles.dim() == 3:
            angles = angles[:, None]  # the same for every head
        table = torch.float64 if x.dtype == torch.float64 else torch.float32
        cos, sin = angles.cos().to(table), angles.sin().to(table)
        pairs, axis = ((2, -1), -2) if self.layout == "half" else ((-1, 2), -1)
        first, second = x.unflatten(-1, pairs).unbind(axis)  # each (batch, heads, length, head_dim / 2)
        turned = (first * cos - second * sin, first * sin + second * cos)  # float32 for half precision
        return torch.stack(turned, dim=axis).flatten(-2).to(x.dtype)

    def extra_repr(self) -> str:
        return f"head_dim={self.head_dim}, base={self.base}, layout={self.layout!r}"


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    """position / base^(2i / width) for each pair i: (...) -> (..., pairs); an odd width rounds up.

    In float64, because at position 15,962 float32 is already wrong by a thousandth of a radian, and
    bfloat16 cannot even tell 1,857 from 1,856. (Apple's GPU has no float64 and does with float32.)
    """
    precise = torch.float32 if positions.device.type == "mps" else torch.float64
    even = torch.arange(0, width, 2, device=positions.device, dtype=precise)  # 2i
    return positions.to(precise).unsqueeze(-1) * base ** (-even / width)


def _waves(positions: Tensor, d_model: int) -> Tensor:
    """Sine and cosine of each pair's angle, in turn: (...) -> (..., d_model)."""
    angles = _angles(positions, d_model, 10000.0)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)[..., :d_model]


def _check_width(x: Tensor, d_model: int) -> None:
    if x.dim() < 2 or x.shape[-1] != d_model:
        raise ValueError(f"expected x of shape (..., length, {d_model}), got {tuple(x.shape)}")


def _whole_positions(positions: Tensor | None, shape: tuple[int, ...], device: torch.device) -> Tensor:
    """The positions, found to fit a shape (..., length); 0 to length - 1 where None."""
    if positions is None:
        return torch.arange(shape[-1], device=device)
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"positions must be whole numbers, such as int64, got {positions.dtype}")
    fits = tuple(shape[-1:] if positions.dim() == 1 else shape)  # a single comparison: each binds an export
    if positions.shape != fits:
        raise ValueError(
            f"expected positions of shape {tuple(shape[-1:])} or {tuple(shape)}, got {tuple(positions.shape)}"
        )
    return positions
