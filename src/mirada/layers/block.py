"""The transformer block: the words look at each other, then each one thinks by itself."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.layers.cache import KVCache
from mirada.layers.masks import Mask
from mirada.layers.multihead import MultiHeadAttention, clean_padding
from mirada.layers.positions import RotaryPositions

Norm = Literal["layer", "rms"]
Activation = Literal["relu", "gelu", "gelu_tanh", "swiglu"]


@dataclass(frozen=True)
class BlockConfig:
    """What the blocks of a stack have in common.

    Args:
        norm: "layer" (https://arxiv.org/abs/1607.06450) or "rms" (https://arxiv.org/abs/1910.07467).
        norm_first: normalise before attention and MLP, as nearly all do now (https://arxiv.org/abs/2002.04745);
            False normalises after the sum, as "Attention Is All You Need" did.
        activation: of the MLP: "relu", "gelu" (exact), "gelu_tanh" (its approximation), or "swiglu", a SiLU
            that gates a second projection (https://arxiv.org/abs/2002.05202).
        eps: of the norms.
        bias: whether projections and LayerNorm add one.
        dropout: in training only: of the weights, of what attention and MLP add, and inside the MLP, the
            places of nn.TransformerEncoderLayer.
        num_kv_heads, head_dim: as in MultiHeadAttention.
        rotary: turns queries and keys of the self-attention by their position.
        cross_attention: whether the block also looks at a context, between self-attention and MLP.
        d_context: width of that context where it differs from d_model.

    Raises:
        ValueError: a value that none of these allow.
    """

    norm: Norm = "layer"
    norm_first: bool = True
    activation: Activation = "relu"
    eps: float = 1e-5
    bias: bool = True
    dropout: float = 0.0
    num_kv_heads: int | None = None
    head_dim: int | None = None
    rotary: RotaryPositions | None = None
    cross_attention: bool = False
    d_context: int | None = None

    def __post_init__(self):
        for name, allowed in (("norm", get_args(Norm)), ("activation", get_args(Activation))):
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be one of {', '.join(allowed)}, but is {getattr(self, name)!r}"
                )
        if self.eps <= 0:
            raise ValueError(f"eps must be greater than 0, but is {self.eps}")
        if not 0 <= self.dropout <= 1:
            raise ValueError(f"dropout must be a share, from 0 to 1, but is {self.dropout}")
        if self.d_context is not None and not self.cross_attention:
            raise ValueError(f"d_context={self.d_context} needs cross_attention=True")


class MLP(nn.Module):
    """Each word on its own: (batch, length, d_model), widened to d_mlp, bent, and back to d_model."""

    def __init__(self, d_model: int, d_mlp: int, config: BlockConfig, *, device=None, dtype=None):
        super().__init__()
        self.activation = config.activation
        options = {"bias": config.bias, "device": device, "dtype": dtype}
        self.hidden_proj = nn.Linear(d_model, d_mlp, **options)
        if self.activation == "swiglu":
            self.gate_proj = nn.Linear(d_model, d_mlp, **options)
        self.dropout = nn.Dropout(config.dropout)
        self.output_proj = nn.Linear(d_mlp, d_model, **options)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.hidden_proj(x)
        if self.activation == "swiglu":
            hidden = F.silu(self.gate_proj(x)) * hidden
        elif self.activation == "relu":
            hidden = F.relu(hidden)
        else:
            hidden = F.gelu(hidden, approximate="tanh" if self.activation == "gelu_tanh" else "none")
        return self.output_proj(self.dropout(hidden))

    def extra_repr(self) -> str:
        return f"activation={self.activation}"


class TransformerBlock(nn.Module):
    """Norm, attention, sum; norm, MLP, sum: (batch, length, d_model) in and out.

    With 64, 4 heads and 256 it has 49,984 parameters, for sentences of any length.

    Args:
        d_model: width of x and of the output.
        num_heads: heads of the attention.
        d_mlp: width inside the MLP, usually four times d_model.
        config: everything else.

    Raises:
        ValueError: sizes that do not fit.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_mlp: int,
        config: BlockConfig = BlockConfig(),
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        if d_mlp < 1:
            raise ValueError(f"d_mlp must be at least 1, but is {d_mlp}")
        self.d_model, self.num_heads, self.d_mlp, self.config = d_model, num_heads, d_mlp, config

        def norm() -> nn.Module:
            if config.norm == "rms":
                return nn.RMSNorm(d_model, eps=config.eps, device=device, dtype=dtype)
            return nn.LayerNorm(d_model, eps=config.eps, bias=config.bias, device=device, dtype=dtype)

        def heads(rotary: RotaryPositions | None = None, d_context: int | None = None) -> MultiHeadAttention:
            return MultiHeadAttention(
                d_model,
                num_heads,
                num_kv_heads=config.num_kv_heads,
                head_dim=config.head_dim,
                d_context=d_context,
                bias=config.bias,
                dropout=config.dropout,
                rotary=rotary,
                device=device,
                dtype=dtype,
            )

        # The order in which the parameters draw their first values: the lesson's figures depend on it.
        self.norm1 = norm()
        self.attention = heads(rotary=config.rotary)
        if config.cross_attention:
            self.norm_cross = norm()
            self.cross_attention = heads(d_context=config.d_context)
        self.norm2 = norm()
        self.mlp = MLP(d_model, d_mlp, config, device=device, dtype=dtype)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Mask | None = None,
        context_mask: Mask | None = None,
        *,
        cache: KVCache | None = None,
        context_cache: KVCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """x, corrected by what it saw and by what the MLP made of it: (batch, length, d_model).

        Args:
            x: (batch, length, d_model).
            context: (batch, keys, d_context), for the cross-attention.
            mask: who in x may look at whom in x.
            context_mask: who in x may look at whom in the context.
            cache, positions: of the self-attention, as in MultiHeadAttention.
            context_cache: of the cross-attention: the context is read at the first call only.

        Raises:
            ValueError: a context without cross-attention or the reverse, or shapes that do not fit.
        """
        if x.dim() != 3 or x.shape[-1] != self.d_model:
            raise ValueError(f"x must be (batch, length, d_model={self.d_model}), but is {tuple(x.shape)}")
        if (context is not None) != self.config.cross_attention:
            raise ValueError(
                "this block has no cross-attention: it takes no context"
                if context is not None
                else "this block has cross-attention: give it a context"
            )
        if context_mask is not None and context is None:
            raise ValueError("context_mask says who may look at the context, but there is none")
        if context_cache is not None and context is None:
            raise ValueError("context_cache keeps what is read of a context, but there is none")
        if mask is not None:
            keys = x.shape[1] + (0 if cache is None else cache.length)
            x = clean_padding(x, mask, (x.shape[0], self.num_heads, x.shape[1], keys))
        own = {"mask": mask, "cache": cache, "positions": positions}
        across = {"context": context, "mask": context_mask, "cache": context_cache}
        if self.config.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), **own))
            if context is not None:
                x = x + self.dropout(self.cross_attention(self.norm_cross(x), **across))
            return x + self.dropout(self.mlp(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attention(x, **own)))
        if context is not None:
            x = self.norm_cross(x + self.dropout(self.cross_attention(x, **across)))
        return self.norm2(x + self.dropout(self.mlp(x)))
