"""How a head's table is walked without being built: in blocks of rows, each in pieces of keys."""

from collections.abc import Iterator

import torch
from torch import Tensor

from mirada.watching.head import Head


def span(rows: slice | None, count: int) -> slice:
    """The same rows, counted from 0. ValueError if they are not next to one another."""
    start, stop, step = (rows or slice(None)).indices(count)
    if step != 1:
        raise ValueError(f"rows is {rows}; expected rows next to one another: a slice without a step")
    return slice(start, max(start, stop))


def blocks(whole: slice, size: int) -> Iterator[slice]:
    for start in range(whole.start, whole.stop, size):
        yield slice(start, min(start + size, whole.stop))


def scores_into(out: Tensor, head: Head, query: Tensor, rows: slice, keys: slice) -> Tensor:
    """head.scores(rows, keys), written into `out`. `query` is that of these rows, already scaled."""
    torch.mm(query, head.key[keys].to(out.dtype).mT, out=out)
    if head.softcap is not None:
        out.div_(head.softcap).tanh_().mul_(head.softcap)
    if not all_see(head, rows, keys):
        allowance = head.allowance(rows, keys)
        if allowance is not None:
            out.add_(allowance)
    return out


def all_see(head: Head, rows: slice, keys: slice) -> bool:
    """True if it is known without a table that the mask leaves all of this piece as it is.

    What a row sees through a causal mask or a window moves on with the row, without gaps: so what the first
    and the last of the rows see whole, all of them do.
    """
    if head.mask is None:
        return True
    # A single key may be what `reach` gives to a row that looks at nobody.
    if keys.stop - keys.start < 2 or any(part.kind not in ("causal", "window") for part in head.mask.parts):
        return False
    ends = [head.reach(slice(row, row + 1)) for row in (rows.start, rows.stop - 1)]
    return all(end.start <= keys.start and keys.stop <= end.stop for end in ends)
