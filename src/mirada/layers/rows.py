"""Attention under a mask without a table as large as the mask: some rows of queries at a time.

Each block of rows sees only the keys that one of its rows may look at, and has its own piece of the mask.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mirada.layers.masks import Mask

ROWS = 256  # of a block, at most: a narrow window wastes little, and every core still has work
CELLS = 2**21  # of a piece of mask, about: 8 MB in float32


def by_rows(q: Tensor, k: Tensor, v: Tensor, mask: Mask, shape: Sequence[int], **options) -> Tensor:
    """q, k, v with four dimensions and one width; `shape` of the scores before they were folded to four."""
    if mask.has_bias:  # the kernel wants it in the query's dtype: in float16, -1e8 would be -inf and block
        q, k, v = (x.to(torch.promote_types(x.dtype, torch.float32)) for x in (q, k, v))
    outputs = [one_block(q, k, v, mask, shape, rows, options) for rows in blocks(mask, shape, q.device)]
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=2)


def one_block(q: Tensor, k: Tensor, v: Tensor, mask: Mask, shape, rows: slice, options: dict) -> Tensor:
    columns = mask.columns(shape, rows)
    piece = partial(folded_piece, mask, shape, rows, columns, q.device, q.dtype)
    table, nobody = piece()
    with rebuilt_for_backward(table, piece):
        output = F.scaled_dot_product_attention(
            q[:, :, rows], k[:, :, columns], v[:, :, columns], table, **options
        )
    return output if nobody is None else torch.where(nobody, 0, output)


def blocks(mask: Mask, shape: Sequence[int], device: torch.device) -> list[slice]:
    """Which rows are done together."""
    queries, keys = shape[-2:]
    # Padding needs one row of mask for all. A compiled graph cannot loop over a length that it does not know.
    if mask.hides_keys(len(shape)) or torch.compiler.is_compiling() or queries == 0:
        return [slice(0, queries)]
    tables = mask.table(shape, slice(0, 1), slice(0, 1), device).numel()  # a cell of each
    step = max(16, min(ROWS, CELLS // max(tables * keys, 1)))
    return [slice(start, min(start + step, queries)) for start in range(0, queries, step)]


def folded_piece(mask: Mask, shape: Sequence[int], *place) -> tuple[Tensor, Tensor | None]:
    table, nobody = mask.piece(shape, *place)
    return fold_table(table, shape), None if nobody is None else fold_table(nobody, shape)


def rebuilt_for_backward(table: Tensor, piece: Callable[[], tuple[Tensor, Any]]) -> AbstractContextManager:
    """While active, autograd keeps the recipe of a piece of mask in place of the piece.

    All the pieces of a long sequence together would be the table that nobody wants.
    """
    hooks = torch._C._autograd  # pyright: ignore[reportAttributeAccessIssue]
    if (
        not torch.is_grad_enabled()
        or torch.compiler.is_compiling()  # plans its own memory
        or not hooks._saved_tensors_hooks_is_enabled()  # torch.func has none
        or hooks._top_saved_tensors_default_hooks(False)  # checkpointing, which keeps less than we would
        or table.requires_grad
        or type(table) is not Tensor  # a fake one has no place in memory
    ):
        return nullcontext()
    place, size = table.data_ptr(), table.shape  # not the table itself: the hooks would keep it

    def pack(saved: Tensor):
        return piece if saved.data_ptr() == place and saved.shape == size else saved

    def unpack(kept):
        return kept()[0] if kept is piece else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


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
