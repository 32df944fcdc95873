"""What the three families share: from tokens to vectors, the blocks, and from vectors to logits."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.layers.block import TransformerBlock
from mirada.layers.cache import KVCache
from mirada.layers.masks import Mask
from mirada.layers.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from mirada.models.config import StackConfig


class TokenEmbedding(nn.Module):
    """The vector of each token plus that of its place: (batch, length) to (batch, length, d_model).

    Rotary positions are not added here: they belong to the blocks.
    """

    def __init__(self, vocabulary: int, max_length: int, config: StackConfig):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, config.d_model)
        self.scale = 1.0
        if config.tied:
            # The same vectors are read and written with, and a place resembles its own token: at the standard
            # deviation of 1 that nn.Embedding draws, that token's logit would be near d_model, and the loss
            # far above ln(vocabulary). At 1 / d_model it is below 1, and the others near 0. √d_model on the
            # way in ("Attention Is All You Need", 3.4) keeps the places from drowning tokens so small.
            self.scale = math.sqrt(config.d_model)
            with torch.no_grad():
                self.tokens.weight /= config.d_model
        self.positions = None
        if config.positions == "learned":
            self.positions = LearnedPositions(max_length, config.d_model)
        elif config.positions == "sinusoidal":
            self.positions = SinusoidalPositions(config.d_model)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """tokens: (batch, length), whole numbers; positions: (length,) or (batch, length), 0, 1, … if None.

        Raises ValueError for another shape, a token that is not in the vocabulary (on a GPU it is PyTorch
        that stops) and a place beyond a learned table; TypeError for another dtype than int64 or int32.
        """
        if tokens.dim() != 2:
            raise ValueError(f"tokens must be (batch, length), but are {tuple(tokens.shape)}")
        if tokens.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"tokens are {tokens.dtype}; expected int64: write tokens.long()")
        try:  # the values are not looked at beforehand: that would make a GPU wait and stop an export
            x = self.tokens(tokens)
        except IndexError as error:
            raise ValueError(
                f"tokens run from {int(tokens.min())} to {int(tokens.max())}, but the vocabulary is 0 to "
                f"{self.tokens.num_embeddings - 1}"
            ) from error
        if self.scale != 1:
            x = x * self.scale
        return x if self.positions is None else self.positions(x, positions)

    def logits(self, x: Tensor) -> Tensor:
        """How much each place resembles each token, (batch, length, vocabulary): a tied model's output."""
        return F.linear(x, self.tokens.weight)


class Stack(nn.Module):
    """Blocks, one above the other, and a norm at the end: (batch, length, d_model) in and out.

    Post-norm blocks (`block.norm_first=False`) end with a norm of their own, so none follows them, as in
    PyTorch's nn.TransformerEncoder without `norm`.
    """

    def __init__(self, config: StackConfig, *, cross_attention: bool = False):
        super().__init__()
        rotary = None
        if config.positions == "rotary":
            rotary = RotaryPositions(config.block.head_dim or config.d_model // config.num_heads)
        block = replace(config.block, rotary=rotary, cross_attention=cross_attention)
        self.is_rotary = rotary is not None
        self.blocks = nn.ModuleList(
            TransformerBlock(config.d_model, config.num_heads, config.mlp_width, block)
            for _ in range(config.num_blocks)
        )
        self.norm = None
        if block.norm_first and block.norm == "rms":
            self.norm = nn.RMSNorm(config.d_model, eps=block.eps)
        elif block.norm_first:
            self.norm = nn.LayerNorm(config.d_model, eps=block.eps, bias=block.bias)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Mask | None = None,
        context_mask: Mask | None = None,
        *,
        caches: list[KVCache] | None = None,
        context_caches: list[KVCache] | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """As TransformerBlock's, with a cache for each block. ValueError for another number of them."""
        for given in (caches, context_caches):
            if given is not None and len(given) != len(self.blocks):
                raise ValueError(f"expected {len(self.blocks)} caches, one for each block, got {len(given)}")
        positions = positions if self.is_rotary else None
        for i, block in enumerate(self):
            kept = {"cache": caches and caches[i], "context_cache": context_caches and context_caches[i]}
            x = block(x, context, mask, context_mask, **kept, positions=positions)
        return x if self.norm is None else self.norm(x)

    def __iter__(self) -> Iterator[TransformerBlock]:
        """The blocks, the first to be gone through first."""
        return cast(Iterator[TransformerBlock], iter(self.blocks))


def following(tokens: Tensor, caches: list[KVCache] | None) -> Tensor | None:
    """The places of tokens (batch, length) that come after those in the caches; None where that is from 0."""
    if not caches or caches[0].length == 0:
        return None
    start = caches[0].length
    return torch.arange(start, start + tokens.shape[1], device=tokens.device)


def causal(tokens: Tensor, mask: Mask | None, caches: list[KVCache] | None) -> Mask | None:
    """Nobody in tokens (batch, length) looks ahead, and what the mask says besides."""
    if caches is not None and tokens.shape[1] == 1:  # the last of all: before it are all the others
        return mask
    return Mask.causal() if mask is None else Mask.causal() & mask


def uncompiled(model: nn.Module) -> nn.Module:
    """The model that `torch.compile` wrapped, or the model itself."""
    return getattr(model, "_orig_mod", model)
