"""A look: all that one module's attention saw in one run, over all steps of a decoding."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from mirada.layers.masks import Mask
from mirada.views.scene import Scene
from mirada.watching.asking import Which, places, spans
from mirada.watching.call import Call, bytes_of
from mirada.watching.filled import filled
from mirada.watching.head import Head
from mirada.watching.overview import Tiles, received, regions, tiles
from mirada.watching.prints import describe, say_row
from mirada.watching.scenes import scene_of
from mirada.watching.steps import summary_of, table_of

Kind = Literal["self", "cross"]

SEEN, MASKED, ABSENT = 0, 1, 2  # see Look.states


class Top(NamedTuple):
    keys: Tensor  # (batch, heads, rows, k) int64, −1 where a row may look at fewer than k keys
    weights: Tensor  # (batch, heads, rows, k), descending


class Sink(NamedTuple):
    sample: int
    head: int
    key: int
    share: float  # of what is looked, mean over the rows that may look there


class Look:
    """Whom each row looks at. Rows look, keys are looked at; both count through the steps of a decoding.

    Attributes:
        path: of the module that called attention.
        kind: "self", or "cross" where the keys come from another sequence.
        where: the same, and the class of the module.
        calls: what was kept, a `Call` for each step.
        starts: for each step, which key of the whole its first key is.
    """

    def __init__(self, path: str, kind: Kind, where: str, calls: Sequence[Call], starts: Sequence[int]):
        self.path, self.kind, self.where = path, kind, where
        self.calls, self.starts = list(calls), list(starts)
        self.tokens: Sequence[str] | None = None  # names of the keys, where `gaze.tokens` was set

    # What it is.

    @property
    def batch(self) -> int:
        return self.calls[0].shape[0]

    @property
    def heads(self) -> tuple[int, ...]:
        """Which heads were kept, by their number in the layer."""
        return self.calls[0].heads

    @property
    def num_kv_heads(self) -> int:
        return self.calls[0].key.shape[1]

    @property
    def head_dim(self) -> int:
        return self.calls[0].query.shape[-1]

    @property
    def key_heads(self) -> tuple[int, ...]:
        """Of each of `heads`, which key head it looks through: grouped heads share one, neighbours first."""
        call = self.calls[0]
        return tuple(i // call.group for i in range(len(call.heads)))

    @property
    def scale(self) -> float:
        """What q·k is multiplied by; 1/√head_dim unless the model says otherwise."""
        return self.calls[0].scale

    @property
    def masks(self) -> list[Mask | None]:
        """Who may look at whom in each step, for scores of (batch, heads, rows, keys) of that step."""
        return [call.mask for call in self.calls]

    @property
    def steps(self) -> int:
        return len(self.calls)

    @property
    def rows(self) -> int:
        return sum(call.shape[2] for call in self.calls)

    @property
    def keys(self) -> int:
        return max(start + call.shape[3] for start, call in zip(self.starts, self.calls, strict=True))

    @property
    def kernel(self) -> str:
        return self.calls[0].kernel

    @property
    def training(self) -> bool:
        return self.calls[0].training

    @property
    def memory(self) -> int:
        """Bytes kept: queries and keys, and masks that are tables; what the steps share, once."""
        return bytes_of(self.calls)

    @property
    def error(self) -> float | None:
        """Largest difference between what these weights give and what the model made; None: not compared."""
        errors = [call.error for call in self.calls if call.error is not None]
        return max(errors, default=None)

    @property
    def proved(self) -> bool | None:
        """False if a difference is larger than rounding explains; None if nothing could be compared."""
        found = [call.proved for call in self.calls]
        return False if False in found else None if None in found else True

    @property
    def note(self) -> str:
        """Why it is not proved."""
        return "; ".join(dict.fromkeys(call.note for call in self.calls if call.note))

    @property
    def positions(self) -> list[int]:
        """Of each row: its own place among the keys; in cross-attention, its place among the rows."""
        if self.kind == "cross":
            return list(range(self.rows))
        ends = [start + filled(call) for start, call in zip(self.starts, self.calls, strict=True)]
        firsts = [end - call.shape[2] for end, call in zip(ends, self.calls, strict=True)]
        return [
            first + i for first, call in zip(firsts, self.calls, strict=True) for i in range(call.shape[2])
        ]

    # What it shows.

    def weights(self, heads: Which = None, rows: Which = None) -> Tensor:
        """How much each row looks at each key: (batch, heads, rows, keys), float32, before dropout.

        Exactly 0 where masked, and at keys that were not there yet; `states` tells these apart. A row sums
        to 1, to less in a model with attention sinks, and to 0 if it may look at nobody.

        Args:
            heads: which of `look.heads`, by their number in the layer.
            rows: which rows, from 0; negative ones count from the end.

        Raises:
            ValueError: a head or row that does not exist, or a table larger than 4 GiB.
        """
        return table_of(self, Call.weights, self._heads(heads), self._rows(rows), 0.0, torch.float32)

    def states(self, heads: Which = None, rows: Which = None) -> Tensor:
        """(batch, heads, rows, keys), uint8: 0 may be looked at (if a weight is 0 there, it is tiny),
        1 masked, 2 absent: the key was not there in that step."""

        def of(call: Call, h: Sequence[int], r: Sequence[int]) -> Tensor:
            return torch.where(call.scores(h, r) == -torch.inf, MASKED, SEEN).to(torch.uint8)

        return table_of(self, of, self._heads(heads), self._rows(rows), ABSENT, torch.uint8)

    def scene(
        self, head: int, sample: int = 0, tokens: Sequence[str] | None = None, rows: Which = None
    ) -> Scene:
        """One head of one sample as views draw it. `tokens` names the keys, and the rows by their places;
        unless given, `gaze.tokens` does, where there are as many as keys.

        Raises ValueError where a scene cannot say what this head does (sinks, bent scores), or tokens are
        not as many as keys.
        """
        return scene_of(self, self._heads(head)[0], self._sample(sample), tokens, self._rows(rows))

    def to_dict(self) -> dict[str, Any]:
        """What it is, in plain Python, ready for JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "batch": self.batch,
            "heads": list(self.heads),
            "num_kv_heads": self.num_kv_heads,
            "head_dim": self.head_dim,
            "rows": self.rows,
            "keys": self.keys,
            "steps": self.steps,
            "positions": self.positions,
            "key_heads": list(self.key_heads),
            "scale": self.scale,
            "masks": list(
                dict.fromkeys("none" if call.mask is None else repr(call.mask) for call in self.calls)
            ),
            "kernel": self.kernel,
            "training": self.training,
            "memory": self.memory,
            "error": self.error,
            "proved": self.proved,
            "note": self.note,
        }

    def row(self, row: int, head: int, sample: int = 0, k: int = 8) -> str:
        """Whom one row looks at most, in words: percentages, and how many keys are masked or absent."""
        return say_row(self, self._rows(row)[0], head, self._sample(sample), k)

    # At any length: none of these builds the table.

    def top(self, k: int = 16, heads: Which = None, rows: Which = None) -> Top:
        """The k keys that each row looks at most, exactly. Of equal weights, the first key comes first."""
        found = self._summary(k, heads, rows)
        return Top(found("top_keys"), found("top_weights"))

    def entropy(self, heads: Which = None, rows: Which = None) -> Tensor:
        """How widely each row looks: −Σ w log w over its keys, in nats, (batch, heads, rows)."""
        return self._summary(1, heads, rows)("entropy")

    def log_sum_exp(self, heads: Which = None, rows: Which = None) -> Tensor:
        """log Σ exp(score) of each row, (batch, heads, rows); −inf for one that may look at nobody."""
        return self._summary(1, heads, rows)("log_sum_exp")

    def row_sums(self, heads: Which = None, rows: Which = None) -> Tensor:
        """What the weights sum to, (batch, heads, rows): 1, less beside a sink, 0 where all is masked."""
        return self._summary(1, heads, rows)("row_sums")

    def distance(self, heads: Which = None, rows: Which = None) -> Tensor:
        """How far each row looks: Σ w · |its place − the key's| / Σ w, in tokens, (batch, heads, rows).

        Raises ValueError in cross-attention, where places of two sequences are not to be compared.
        """
        if self.kind == "cross":
            raise ValueError(f"{self.path} looks at another sequence: there is no distance between the two")
        return self._summary(1, heads, rows)("distance")

    def received(self, heads: Which = None) -> Tensor:
        """How much each key is looked at: the mean over the rows that may, (batch, heads, keys)."""
        kept = self._heads(heads)
        result = torch.zeros(self.batch, len(kept), self.keys)
        rows = torch.zeros(self.batch, len(kept), self.keys)
        for start, call in zip(self.starts, self.calls, strict=True):
            span = slice(start, start + call.shape[3])
            for sample in range(self.batch):
                for i, head in enumerate(kept):
                    mean, count = received(call.head(sample, head))
                    result[sample, i, span] += (mean * count).cpu()
                    rows[sample, i, span] += count.cpu()
        return result / rows.clamp(min=1)

    def sinks(self, share: float = 0.3, heads: Which = None) -> list[Sink]:
        """Keys at which much is looked by all: those that receive at least `share`, the largest first.

        Xiao et al., "Efficient streaming language models with attention sinks", https://arxiv.org/abs/2309.17453.
        """
        found = self.received(heads)
        numbers = [self.heads[head] for head in self._heads(heads)]
        places = (found >= share).nonzero().tolist()
        sinks = [Sink(b, numbers[h], key, float(found[b, h, key])) for b, h, key in places]
        return sorted(sinks, key=lambda sink: -sink.share)

    def regions(
        self, row_edges: Sequence[int], key_edges: Sequence[int], heads: Which = None, sample: int = 0
    ) -> Tensor:
        """How much a row of one region looks at another, in the mean: (heads, regions, regions of keys).

        `row_edges` [0, 10, 40] are the regions 0 to 9 and 10 to 39. Raises ValueError for edges that do not
        ascend, and for a look of several steps.
        """
        found = [regions(head, row_edges, key_edges) for head in self._whole(heads, sample)]
        return torch.stack(found)

    def map(self, head: int, sample: int = 0, size: int = 512) -> Tiles:
        """The table of one head, downsampled to at most size × size tiles: the mean and the largest of each.

        Raises ValueError for a look of several steps, whose rows are not of one table.
        """
        (whole,) = self._whole(head, sample)
        return tiles(whole, size)

    # Where the numbers come from.

    def _heads(self, heads: Which) -> list[int]:
        """Places among the kept heads."""
        if heads is None:
            return list(range(len(self.heads)))
        if isinstance(heads, slice):
            return [
                i for i, head in enumerate(self.heads) if head in range(*heads.indices(max(self.heads) + 1))
            ]
        found = []
        for head in [heads] if isinstance(heads, int) else heads:
            if head not in self.heads:
                raise ValueError(f"head {head} is not there: {self.path} has heads {spans(self.heads)}")
            found.append(self.heads.index(head))
        return found

    def _whole(self, heads: Which, sample: int) -> list[Head]:
        if self.steps > 1:
            raise ValueError(
                f"{self.path} was seen in {self.steps} steps: ask for rows of .weights() instead"
            )
        return [self.calls[0].head(self._sample(sample), head) for head in self._heads(heads)]

    def _sample(self, sample: int) -> int:
        if not 0 <= sample < self.batch:
            raise ValueError(f"sample {sample} is not there: {self.path} has samples 0 to {self.batch - 1}")
        return sample

    def _summary(self, k: int, heads: Which, rows: Which) -> Callable[[str], Tensor]:
        return summary_of(self, k, self._heads(heads), self._rows(rows))

    def _rows(self, rows: Which) -> list[int]:
        return places(rows, self.rows, f"{self.path}: row")

    def __repr__(self) -> str:
        return describe(self)
