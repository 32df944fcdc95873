"""What the tests of torch_layers share: PyTorch's layers with no two values alike, and masks said both ways.

A boolean mask of nn.MultiheadAttention is True where one may NOT look; the tables here are built from
inequalities, without mirada's own Mask.
"""

import torch
from torch import nn

from mirada import Mask

BATCH, LENGTH, KEYS = 3, 5, 7
D_MODEL, HEADS, D_MLP, D_CONTEXT = 22, 2, 13, 17


def shaken(layer, dtype=torch.float64):
    """The layer in dtype, every parameter moved: biases that are 0 and gains that are 1 would hide swaps."""
    layer = layer.to(dtype)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return layer


def attention(dtype=torch.float64, **options):
    torch.manual_seed(0)
    return shaken(nn.MultiheadAttention(D_MODEL, HEADS, **options), dtype)


def encoder(dtype=torch.float64, **options):
    torch.manual_seed(0)
    return shaken(nn.TransformerEncoderLayer(D_MODEL, HEADS, D_MLP, **{"dropout": 0.0, **options}), dtype)


def decoder(dtype=torch.float64, **options):
    torch.manual_seed(0)
    return shaken(nn.TransformerDecoderLayer(D_MODEL, HEADS, D_MLP, **{"dropout": 0.0, **options}), dtype)


def inputs(dtype=torch.float64, d_context=D_MODEL):
    """x (batch, length, d_model) and a context (batch, keys, d_context)."""
    torch.manual_seed(1)
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    context = torch.randn(BATCH, KEYS, d_context, dtype=torch.float64)
    return x.to(dtype), context.to(dtype)


def masks(queries, keys, dtype=torch.float64):
    """name -> (ours, their attn_mask, their key_padding_mask), each row with somebody to look at."""
    torch.manual_seed(2)
    ahead = torch.arange(keys) > torch.arange(queries)[:, None] + (keys - queries)
    lengths = torch.tensor([keys, 4, 1])
    behind = torch.arange(keys) >= lengths[:, None]
    table = torch.rand(queries, keys) < 0.4
    table[:, 0] = False
    heads = torch.rand(BATCH * HEADS, queries, keys) < 0.4  # theirs folds the heads into the batch
    heads[:, :, 2] = False
    bias = torch.randn(queries, keys).to(dtype)
    return {
        "none": (None, None, None),
        "causal": (Mask.causal(), ahead, None),
        "padding": (Mask.padding(lengths), None, behind),
        "causal and padding": (Mask.causal() & Mask.padding(lengths), ahead, behind),
        "blocked": (Mask.blocked(table), table, None),
        "a table for each head": (Mask.blocked(heads.unflatten(0, (BATCH, HEADS))), heads, None),
        "bias": (Mask.bias(bias), bias, None),
    }


MASKS = list(masks(LENGTH, LENGTH))
