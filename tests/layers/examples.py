"""Layers, blocks and masks that the tests share."""

import math

import torch

from mirada import BlockConfig, Mask, MultiHeadAttention, RotaryPositions, TransformerBlock

NEVER = -math.inf
# All sizes differ, so that no two axes can be mistaken for each other (LLMs-from-scratch#857).
BATCH, LENGTH, KEYS, D_MODEL, D_CONTEXT, D_MLP = 3, 5, 7, 14, 17, 23
EXACT = {"rtol": 1e-12, "atol": 1e-12}
# A few roundings of numbers of size one: what a step takes and gives is rounded, its sums are not.
CLOSE = {
    torch.float64: EXACT,
    torch.float32: {"rtol": 1e-5, "atol": 2e-6},
    torch.float16: {"rtol": 4e-3, "atol": 4e-3},
    torch.bfloat16: {"rtol": 4e-2, "atol": 4e-2},
}

LAYERS = {
    "self": ({"num_heads": 3, "head_dim": 11}, None),
    "self, no bias": ({"num_heads": 3, "head_dim": 11, "bias": False}, None),
    "self, grouped": ({"num_heads": 6, "num_kv_heads": 2, "head_dim": 5}, None),
    "self, one key head": ({"num_heads": 3, "num_kv_heads": 1, "head_dim": 11}, None),
    "self, one head": ({"num_heads": 1}, None),
    "cross, same width": ({"num_heads": 3, "head_dim": 11}, D_MODEL),
    "cross, same width, grouped, no bias": (
        {"num_heads": 6, "num_kv_heads": 2, "head_dim": 5, "bias": False},
        D_MODEL,
    ),
    "cross, own width": ({"num_heads": 3, "head_dim": 11, "d_context": D_CONTEXT}, D_CONTEXT),
    "cross, own width, grouped": (
        {"num_heads": 6, "num_kv_heads": 3, "head_dim": 5, "d_context": D_CONTEXT},
        D_CONTEXT,
    ),
}
CONFIGS = {
    "default": BlockConfig(),
    "post-norm": BlockConfig(norm_first=False),
    "gelu, no bias": BlockConfig(activation="gelu", bias=False),
    "gelu tanh, eps": BlockConfig(activation="gelu_tanh", eps=1e-2),
    "rms, gated, grouped": BlockConfig(
        norm="rms", activation="swiglu", bias=False, num_kv_heads=1, head_dim=6, rotary=RotaryPositions(6)
    ),
    "cross": BlockConfig(cross_attention=True),
    "cross, own width, post-norm": BlockConfig(cross_attention=True, d_context=D_CONTEXT, norm_first=False),
}


def randn(*shape):
    return torch.randn(shape, dtype=torch.float64)


def layer_of(name, dtype=torch.float64):
    """The layer, x and the context of a row of LAYERS."""
    options, d_context = LAYERS[name]
    torch.manual_seed(3)
    layer = MultiHeadAttention(D_MODEL, **options, dtype=dtype)
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=dtype)
    context = None if d_context is None else torch.randn(BATCH, KEYS, d_context, dtype=dtype)
    return layer, x, context


def block_of(config, dtype=torch.float64, seed=3):
    """A block whose norms are not the identity, x, and a context where it wants one."""
    torch.manual_seed(seed)
    block = TransformerBlock(D_MODEL, 2, D_MLP, config, dtype=dtype)
    with torch.no_grad():
        for name, parameter in block.named_parameters():
            if name.startswith("norm"):
                parameter.add_(0.3 * torch.randn_like(parameter))
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=dtype)
    context = None
    if config.cross_attention:
        context = torch.randn(BATCH, KEYS, config.d_context or D_MODEL, dtype=dtype)
    return block, x, context


def mask_and_bias(kind, queries, keys):
    """A mask, and what it means as a table (batch, queries, keys) that is added to the scores."""
    bias = torch.zeros(BATCH, queries, keys, dtype=torch.float64)
    last = keys - queries  # the queries are the last ones
    lengths = torch.tensor([keys - 2, keys, 1])
    table = torch.rand(queries, keys, generator=torch.Generator().manual_seed(5)) < 0.5
    added = torch.randn(queries, keys, generator=torch.Generator().manual_seed(7))
    added[1, 2] = NEVER
    if kind == "none":
        return None, None
    for i in range(queries):
        for j in range(keys):
            for b in range(BATCH):
                banned = {
                    "causal": j > i + last,
                    "padding": j >= lengths[b],
                    "left padding": j < keys - lengths[b],
                    "causal window": j > i + last or abs(i + last - j) >= 2,
                    "causal and padding": j > i + last or j >= lengths[b],
                    "allowed": not table[i, j],
                    "blocked": bool(table[i, j]),
                    "nobody": True,
                    "bias": False,
                }[kind]
                bias[b, i, j] = NEVER if banned else (added[i, j].item() if kind == "bias" else 0.0)
    mask = {
        "causal": lambda: Mask.causal(),
        "padding": lambda: Mask.padding(lengths),
        "left padding": lambda: Mask.padding(lengths, side="left"),
        "causal window": lambda: Mask.causal() & Mask.window(2),
        "causal and padding": lambda: Mask.causal() & Mask.padding(lengths),
        "allowed": lambda: Mask.allowed(table),
        "blocked": lambda: Mask.blocked(table),
        "nobody": lambda: Mask.blocked(torch.ones(queries, keys, dtype=torch.bool)),
        "bias": lambda: Mask.bias(added),
    }[kind]()
    return mask, bias


KINDS = [
    "none",
    "causal",
    "padding",
    "left padding",
    "causal window",
    "causal and padding",
    "allowed",
    "blocked",
    "nobody",
    "bias",
]
