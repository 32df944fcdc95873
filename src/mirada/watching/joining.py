"""Whether a call goes on with a decoding that was seen before, and how its table joins the others."""

from dataclasses import replace

import torch

from mirada.watching.call import Call
from mirada.watching.look import Look, filled


def continues(look: Look, call: Call, steps: int) -> bool:
    """True if `call` has the keys that the look ends with, and new rows behind them.

    In cross-attention nothing grows: there it goes on if the same keys are looked at, and the run, whose
    self-attention knows, is further than this look.
    """
    last = look.calls[-1]
    if (call.shape[:2], call.heads, call.key.shape[1::2]) != (
        last.shape[:2],
        last.heads,
        last.key.shape[1::2],
    ):
        return False
    if look.kind == "cross":
        return look.steps < steps and torch.equal(call.key, last.key)
    return shift(last, call) is not None


def shift(last: Call, call: Call) -> int | None:
    """By how many keys the window of a cache has moved on, 0 if it only grew; None if it is another text."""
    rows = call.shape[2]
    before, now = filled(last), filled(call)
    moved = before + rows - now
    overlap = now - rows
    if rows >= call.shape[3] or moved < 0 or overlap < 1:
        return None
    same = torch.equal(call.key[:, :, :overlap], last.key[:, :, moved:before])
    return moved if same else None


def join(look: Look, call: Call) -> None:
    """Add a step. Keys that it has in common with those before it are kept once."""
    last, start = look.calls[-1], look.starts[-1]
    if look.kind == "cross":
        call, moved = replace(call, key=last.key), 0
    else:
        found = shift(last, call)
        assert found is not None
        moved = found
        if moved == 0:  # beyond what was filled then, the earlier rows may not look
            for i, (earlier, first) in enumerate(zip(look.calls, look.starts, strict=True)):
                if first == start and earlier.shape[3] <= call.shape[3]:
                    look.calls[i] = replace(earlier, key=call.key[:, :, : earlier.shape[3]])
    look.calls.append(call)
    look.starts.append(start + moved)
