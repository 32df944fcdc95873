"""One call of attention as it was seen: what it was given, in one form, and the proof that this is all."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps

import torch
from torch import Tensor

from mirada.layers.masks import Mask
from mirada.watching.head import Head, bend, shares, weigh

Apart = tuple[float, float]  # a difference, and the largest of the numbers that were compared
SAME: Apart = (0.0, 0.0)


def exactly(method: Callable) -> Callable:
    """A method that autocast does not reach: within it, products would be made in half precision."""

    @wraps(method)
    def wrapped(self, *args, **kwargs):
        with torch.autocast(self.query.device.type, enabled=False):
            return method(self, *args, **kwargs)

    return wrapped


@dataclass(frozen=True, eq=False)
class Call:
    """Queries and keys as the formula takes them, after rotary positions, and all else that makes the scores.

    `shape` is that of the scores, (batch, heads, rows, keys). A dimension of `query` or `key` that only
    repeats itself is kept once.
    """

    query: Tensor  # (batch or 1, heads or 1, rows, d)
    key: Tensor  # (batch or 1, a divisor of heads, keys, d)
    shape: tuple[int, int, int, int]
    scale: float
    mask: Mask | None = None
    softcap: float | None = None
    sinks: Tensor | None = None  # (heads,)
    kernel: str = ""  # what was called
    training: bool = False
    heads: tuple[int, ...] = ()  # which of the layer's heads these are
    error: float | None = None  # largest difference to the model's own output, in the rows that were compared
    proved: bool | None = None  # None: there was nothing to compare with
    note: str = ""

    @property
    def group(self) -> int:
        """How many query heads share a key head."""
        return self.shape[1] // self.key.shape[1]

    def head(self, sample: int, head: int) -> Head:
        """One head of one sample, `head` counted among those that were kept."""

        def of(x: Tensor, place: int) -> Tensor:
            x = x[min(sample, len(x) - 1)]
            return x[min(place, len(x) - 1)]

        return Head(
            of(self.query, head),
            of(self.key, head // self.group),
            self.scale,
            self.mask,
            self.shape,
            (sample, head),
            self.softcap,
            None if self.sinks is None else float(self.sinks[head]),
        )

    @exactly
    def scores(self, heads: Sequence[int], rows: Sequence[int]) -> Tensor:
        """(batch, heads, rows, keys) of the chosen ones, −inf where masked; float32, or wider where Q is."""
        batch, all_heads, _, keys = self.shape
        wide = torch.promote_types(self.query.dtype, torch.float32)
        query = self.query.expand(-1, all_heads, -1, -1)[:, :, as_index(rows)].to(wide) * self.scale
        if len(heads) == all_heads:  # all of them: the heads of a group share one product
            query = query.unflatten(1, (-1, self.group)).flatten(2, 3)
            scores = query @ self.key.to(wide).mT
            scores = scores.unflatten(2, (self.group, -1)).flatten(1, 2)
        else:
            shared = [head // self.group for head in heads]
            scores = query[:, list(heads)] @ self.key[:, shared].to(wide).mT
        scores = bend(scores, self.softcap).expand(batch, -1, -1, -1)
        if self.mask is None or not len(rows):
            return scores
        every_key = slice(0, keys)
        tables = []
        for run in runs(rows):
            table = self.mask.table(self.shape, run, every_key, scores.device)
            tables.append(table.expand(*table.shape[:-2], run.stop - run.start, -1))
        allowance = tables[0] if len(tables) == 1 else torch.cat(tables, dim=-2)
        if allowance.dim() > 2 and allowance.shape[-3] > 1:
            allowance = allowance[..., list(heads), :, :]
        if allowance.dtype == torch.bool:
            return scores.masked_fill(~allowance, -math.inf)
        return (scores + allowance.to(wide)).masked_fill(allowance == -math.inf, -math.inf)

    def weights(self, heads: Sequence[int], rows: Sequence[int]) -> Tensor:
        """(batch, heads, rows, keys), float32, before dropout: exactly 0 where masked."""
        sinks = None if self.sinks is None else self.sinks[list(heads), None, None]
        return weigh(self.scores(heads, rows), sinks)

    @exactly
    def proved_by(self, value: Tensor, output: Tensor, apart: Apart = SAME) -> "Call":
        """This call, with what a few of its rows give compared with what the model made of them.

        `apart` was found on the way to these: a difference, and the largest of the numbers compared there.

        `value` (batch, a divisor of heads, keys, dv) and `output` (batch, heads, rows, dv) are the model's.
        """
        _, heads, count, keys = self.shape
        rows = compared(count)
        if not rows or not keys or output.numel() == 0:
            return replace(self, error=0.0, proved=True)
        scores = self.scores(range(heads), rows)
        value = value.to(scores.dtype)
        found = output[:, :, rows].to(scores.dtype)
        if self.mask is None and self.sinks is None:
            difference, size = mixed(scores.softmax(-1), value) - found, found
            room = 1 + scores.abs().amax() / 8
        else:
            weights, somebody = self._weighed(scores)
            difference = torch.where(somebody, mixed(weights, value) - found, 0)
            size = torch.where(somebody, found, 0)
            room = room_of(scores, weights)
        found_by = (difference, difference / room, room, size)
        error, in_room, largest, size = torch.stack([x.abs().amax() for x in found_by]).tolist()
        if math.isfinite(error + in_room + largest + size):
            # What is found is no larger than the largest value: whoever passes this, passes with that.
            judged = self.judged(error, in_room, largest, size, apart)
            if judged.proved:
                return judged
        return self._proved_closely(scores, value, found, apart)

    def _weighed(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The weights in the precision of the scores, and which rows may look at anybody."""
        # A row that may look at nobody is 0 here; models make of it what they like.
        somebody = (scores > -math.inf).any(-1, keepdim=True)
        return shares(scores, None if self.sinks is None else self.sinks[:, None, None]), somebody

    def _proved_closely(self, scores: Tensor, value: Tensor, found: Tensor, apart: Apart) -> "Call":
        """With the largest value that is seen, and with NaN and infinity told apart."""
        weights, somebody = self._weighed(scores)
        group = self.shape[1] // value.shape[1]
        seen = (scores > -math.inf).any(-2).unflatten(1, (-1, group)).any(2)[..., None]
        # What stands where nobody may look, NaN included, some kernels leave out and some multiply by 0.
        clean = torch.where(seen, value, 0)
        differences = []
        for taken in (clean, value):
            expected = mixed(weights, taken)
            same = (expected == found) | (expected.isnan() & found.isnan()) | ~somebody
            differences.append(torch.where(same, 0, (expected - found).abs()).nan_to_num(math.inf))
        difference = differences[0].minimum(differences[1])
        room = room_of(torch.where(scores.isfinite(), scores, 0), weights)
        largest = torch.where(clean.isfinite(), clean, 0)
        error, in_room, room, size = (
            float(x.abs().amax()) for x in (difference, difference / room, room, largest)
        )
        return self.judged(error, in_room, room, size, apart)

    def proved_by_weights(self, weights: Tensor) -> "Call":
        """This call, a few of its rows compared with the model's own weights (batch, heads, rows, keys)."""
        _, heads, count, keys = self.shape
        rows = compared(count)
        if not rows or not keys:
            return replace(self, error=0.0, proved=True)
        scores = self.scores(range(heads), rows)
        somebody = (scores > -math.inf).any(-1, keepdim=True)
        ours = shares(scores, None)
        difference = (ours - weights[:, :, rows]).abs()
        difference = torch.where((difference == 0) | ~somebody, 0, difference)
        # A softmax may be taken in less than the queries have.
        coarser = torch.finfo(weights.dtype).eps / torch.finfo(self.query.dtype).eps
        room = room_of(scores, ours) * max(1.0, coarser)
        error, in_room, room = (float(x.amax()) for x in (difference, difference / room, room))
        return self.judged(error, in_room, room, 1.0)

    def judged(
        self, error: float, in_room: float, room: float, largest_value: float, apart: Apart = SAME
    ) -> "Call":
        """With the difference that was found, and whether it is one that rounding explains.

        `error` is the largest difference, `in_room` the largest share of its row's `room_of`, and `room` the
        largest of these. A weighted sum of values cannot be wrong by more than that share of the largest.
        """
        rounding = max(torch.finfo(self.query.dtype).eps, 1e-12)
        share = rounding * (64 if rounding < 1e-4 else 6)
        elsewhere, size = apart
        proved = in_room <= share * max(largest_value, 1e-30)  # False for NaN
        proved = proved and elsewhere <= share * room * max(largest_value, size, 1e-30)
        error = max(error, elsewhere)
        note = "" if proved else f"what these weights give differs from the model's output by {error:.2g}"
        return replace(self, error=error, proved=proved, note=note)

    def only(self, heads: Sequence[int]) -> "Call":
        """With these heads alone, to keep less."""
        chosen = list(heads)
        return replace(
            self,
            query=self.query if self.query.shape[1] == 1 else self.query[:, chosen],
            key=self.key[:, [head // self.group for head in chosen]],
            shape=(self.shape[0], len(chosen), *self.shape[2:]),
            mask=None if self.mask is None else self.mask.of_heads(chosen),
            sinks=None if self.sinks is None else self.sinks[chosen],
            heads=tuple(self.heads[head] for head in chosen),
        )


def compared(count: int) -> list[int]:
    """The rows that are compared with the model's own: four, whose products are quicker than three's."""
    return sorted({0, count // 3, 2 * count // 3, count - 1}) if count else []


def room_of(scores: Tensor, weights: Tensor) -> Tensor:
    """(…, rows, 1): how far rounding may take the weights of each row.

    Scores are rounded in proportion to their size, and a weight inherits the error of its score. One that
    has no weight leaves none: a mask that is written as −1e9 excuses nothing in the keys that are seen, and
    a row in which all is masked so excuses nothing in the others.
    """
    return 1 + scores.masked_fill(weights == 0, 0).abs().amax(-1, keepdim=True) / 8


def mixed(weights: Tensor, value: Tensor) -> Tensor:
    """(batch, heads, rows, dv); value heads may divide the heads."""
    group = weights.shape[1] // value.shape[1]
    taken = weights.unflatten(1, (-1, group)).flatten(2, 3) @ value
    return taken.unflatten(2, (group, -1)).flatten(1, 2)


def bytes_of(calls: Iterable[Call]) -> int:
    """What they keep; a tensor that several share is counted once."""
    tensors: list[Tensor] = []
    for call in calls:
        tensors += [call.query, call.key]
        if call.mask is not None:
            tensors += [part.tensor for part in call.mask.parts if part.tensor is not None]
    return sum({x.untyped_storage().data_ptr(): x.untyped_storage().nbytes() for x in tensors}.values())


def as_index(rows: Sequence[int]) -> slice | list[int]:
    """A slice where the rows follow one another: it copies nothing."""
    found = runs(rows)
    return found[0] if len(found) == 1 else list(rows)


def runs(rows: Sequence[int]) -> list[slice]:
    """The rows as slices of those that follow one another."""
    found: list[slice] = []
    if isinstance(rows, range) and rows.step == 1 and rows:
        return [slice(rows.start, rows.stop)]
    for row in rows:
        if found and found[-1].stop == row:
            found[-1] = slice(found[-1].start, row + 1)
        else:
            found.append(slice(row, row + 1))
    return found
