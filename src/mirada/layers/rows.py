"""Attention under a mask without a table as large as the mask: some rows of queries at a time.

Each block of rows sees only the keys that one of its rows may look at, and has its own piece of the mask.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from mirada.layers.masks import Mask, open_empty_rows

ROWS = 512  # rows of a block: enough to keep every core busy, few enough that a piece stays small


def by_rows(q: Tensor, k: Tensor, v: Tensor, mask: Mask, shape: Sequence[int], **options) -> Tensor:
    """q, k, v with four dimensions and one width; `shape` of the scores before they were folded to four."""
    if (
        mask.has_bias
    ):  # the kernel wants a bias in the dtype of the query, where -1e8 could overflow and block
        q, k, v = (x.to(torch.promote_types(x.dtype, torch.float32)) for x in (q, k, v))
    outputs = []
    for rows in blocks(mask, shape):
        columns = mask.columns(shape, rows)
        table, nobody = open_empty_rows(mask.table(shape, rows, columns, q.device))
        if table.is_floating_point():
            table = table.to(q.dtype)
        output = F.scaled_dot_product_attention(
            q[:, :, rows], k[:, :, columns], v[:, :, columns], fold_table(table, shape), **options
        )
        outputs.append(output.masked_fill(fold_table(nobody, shape), 0))
    return torch.cat(outputs, dim=2)


def blocks(mask: Mask, shape: Sequence[int]) -> list[slice]:
    queries = shape[-2]
    # Padding needs one row of mask for all. A compiled graph cannot loop over a length it does not know.
    if mask.hides_keys(len(shape)) or torch.compiler.is_compiling() or queries <= ROWS:
        return [slice(0, queries)]
    return [slice(start, min(start + ROWS, queries)) for start in range(0, queries, ROWS)]


def fold(x: Tensor) -> Tensor:
    """(…, heads, length, d) as four dimensions; (batch, length, d) as one head for each sample."""
    if x.stride(-1) != 1:
        x = x.contiguous()  # the fused kernel reads rows in one piece
    if x.dim() < 4:
        x = x.unsqueeze(-3)
    return x.unsqueeze(0) if x.dim() < 4 else x.flatten(0, -4)


def fold_table(table: Tensor, shape: Sequence[int]) -> Tensor:
    """The same for a table that broadcasts to `shape`."""
    table = table.reshape(*[1] * (len(shape) - table.dim()), *table.shape)
    if any(size != 1 for size in table.shape[:-3]):
        table = table.expand(*shape[:-3], *table.shape[-3:])
    return fold(table)
