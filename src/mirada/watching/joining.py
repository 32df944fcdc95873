"""Whether a call goes on with a decoding that was seen before, and how its table joins the others."""

from dataclasses import replace
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from mirada.layers.masks import Mask
from mirada.watching.call import Call
from mirada.watching.filled import filled, is_growing
from mirada.watching.look import Kind, Look


def begun(path: str, kind: Kind, where: str, call: Call) -> Look:
    """A look at a first call."""
    # Whether the places behind it are padding or still to be written, else the next step will tell.
    growing = kind == "self" and is_growing(call)
    return Look(path, kind, where, [written(call) if growing else call], [0])


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
    if rows >= call.shape[3]:
        return None
    before, now = filled(last), filled(call)
    moved = before + rows - now
    overlap = now - rows
    if moved < 0 or overlap < 1:
        return None
    same = torch.equal(call.key[:, :, :overlap], last.key[:, :, moved:before])
    return moved if same else None


def join(look: Look, call: Call) -> None:
    """Add a step. Keys that it has in common with those before it are kept once."""
    last, start, moved = look.calls[-1], look.starts[-1], 0
    if look.kind == "cross":
        call = replace(call, key=last.key)
    else:
        found = shift(last, call)
        assert found is not None
        moved = found
        if look.steps == 1:
            look.calls[0] = written(last)
        call = written(call)
        if moved == 0:
            call = replace(call, key=grown(look, call))
    look.calls.append(call)
    look.starts.append(start + moved)


def grown(look: Look, call: Call) -> Tensor:
    """The keys of a call, of which only those that are new are written behind those of the look."""
    last = look.calls[-1].key
    batch, heads, before, width = last.shape
    now, room = call.shape[3], last.stride(1) // width
    # What was made in inference mode can be written to only there.
    if room < now or (last.is_inference() and not torch.is_inference_mode_enabled()):
        keys = call.key.new_empty(batch, heads, now + now // 8 + 8, width)  # the next steps find room
        keys[:, :, :now] = call.key
        place = last.untyped_storage().data_ptr()
        for i, earlier in enumerate(look.calls):
            if earlier.key.untyped_storage().data_ptr() == place:
                look.calls[i] = replace(earlier, key=keys[:, :, : earlier.shape[3]])
    else:
        keys = last.as_strided((batch, heads, room, width), last.stride())
        keys[:, :, before:now] = call.key[:, :, before:]
    return keys[:, :, :now]


def written(call: Call) -> Call:
    """Without the places at the end of a static cache that nothing was written to yet."""
    end = filled(call)
    parts = () if call.mask is None else call.mask.parts
    if end == call.shape[3] or any(part.kind not in ("allowed", "blocked", "bias") for part in parts):
        return call
    key = call.key[:, :, :end].clone(memory_format=torch.contiguous_format)
    return replace(call, key=key, shape=(*call.shape[:3], end), mask=shorter(call.mask, end))


# Layers share a mask, and its shorter one too.
_shorter: WeakKeyDictionary[Mask, tuple[int, Mask | None]] = WeakKeyDictionary()


def shorter(mask: Mask | None, keys: int) -> Mask | None:
    """What it says of the first keys; None if that is nothing."""
    if mask is None:
        return None
    known = _shorter.get(mask)
    if known is None or known[0] != keys:
        parts = []
        for part in mask.parts:
            table = part.tensor
            assert table is not None
            if table.dim() and table.shape[-1] > keys:
                table = table[..., :keys].clone(memory_format=torch.contiguous_format)
            if not (table == {"allowed": True, "blocked": False, "bias": 0}[part.kind]).all():
                parts.append(replace(part, tensor=table))
        known = keys, Mask(tuple(parts)) if parts else None
        _shorter[mask] = known
    return known[1]
