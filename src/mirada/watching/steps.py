"""Rows of several steps, put together: in a decoding each belongs to a call of its own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mirada.watching.call import Call, runs
from mirada.watching.filled import filled
from mirada.watching.longview import summarise

if TYPE_CHECKING:
    from mirada.watching.look import Look

LARGEST = 4 * 2**30  # bytes of a table that is handed out
Of = Callable[[Call, Sequence[int], Sequence[int]], Tensor]  # of a call, some heads and rows of it


def table_of(
    look: "Look", of: Of, heads: list[int], rows: list[int], nothing: float, dtype: torch.dtype
) -> Tensor:
    """(batch, heads, rows, keys): `of` each step, and `nothing` at keys that were not there in it.

    Raises ValueError for a table larger than 4 GiB.
    """
    shape = (look.batch, len(heads), len(rows), look.keys)
    size = shape[0] * shape[1] * shape[2] * shape[3] * 4
    if size > LARGEST:
        raise ValueError(
            f"the table of {' × '.join(map(str, shape))} weights takes {size / 1e9:,.1f} GB: "
            "ask for fewer heads or rows (rows=range(100)), or for what needs no table: .top(), .map()"
        )
    result = torch.full(shape, nothing, dtype=dtype, device=look.calls[0].query.device)
    done = 0
    for step, chosen in parts(look.calls, rows):
        start, call = look.starts[step], look.calls[step]
        place = result[:, :, done : done + len(chosen), start : start + call.shape[3]]
        place.copy_(of(call, heads, chosen))
        done += len(chosen)
    return result


def summary_of(look: "Look", k: int, heads: list[int], rows: list[int]) -> Callable[[str], Tensor]:
    """What `summarise` says, by the names of its fields: (batch, heads, rows, …) of each."""
    pieces = parts(look.calls, rows)
    found = [_of_head(look, k, sample, head, pieces) for sample in range(look.batch) for head in heads]

    def field(name: str) -> Tensor:
        joined = [torch.cat([getattr(summary, name) for summary in summaries]) for summaries in found]
        return torch.stack(joined).unflatten(0, (look.batch, len(heads)))

    return field


def _of_head(look: "Look", k: int, sample: int, head: int, pieces: list[tuple[int, list[int]]]) -> list:
    found = []
    for step, chosen in pieces:
        call, start = look.calls[step], look.starts[step]
        first = filled(call) - call.shape[2]
        for run in runs(chosen):
            summary = summarise(call.head(sample, head), k, run, first=first)
            keys = torch.where(summary.top_keys < 0, -1, summary.top_keys + start)
            found.append(replace(summary, top_keys=keys))
    return found


def parts(calls: Sequence[Call], rows: list[int]) -> list[tuple[int, list[int]]]:
    """The rows in the order asked for, as pieces of one step each: which step, and which of its rows."""
    step_of = [(step, i) for step, call in enumerate(calls) for i in range(call.shape[2])]
    found: list[tuple[int, list[int]]] = []
    for step, i in (step_of[row] for row in rows):
        if found and found[-1][0] == step:
            found[-1][1].append(i)
        else:
            found.append((step, [i]))
    return found
