"""Who may look at whom.

The only place in Mirada that knows polarities: everywhere else a mask is a `Mask`, which says what it
means and stays a description until somebody needs a piece of it as a tensor.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

Side = Literal["right", "left"]


@dataclass(frozen=True, eq=False)
class Part:
    """One condition of a mask."""

    kind: Literal["causal", "window", "padding", "allowed", "blocked", "bias"]
    tensor: Tensor | None = None  # the lengths of a padding; the table of allowed, blocked and bias
    size: int = 0  # of a window
    first: int | None = None  # of a causal mask: where the first query stands among the keys
    side: Side = "right"  # of a padding
    extent: tuple[int, int] | None = None  # a padding's shortest and longest, where they can be read

    def table(self, shape: Sequence[int], rows: slice, columns: slice, device: torch.device) -> Tensor:
        """Rows and columns of the table, broadcastable to `shape`. Boolean, True: may look. A bias: float."""
        queries, keys = shape[-2:]
        # Row i stands at place i + first; unless it is said, the queries are the last of the keys.
        first = keys - queries if self.first is None else self.first
        looking = torch.arange(rows.start, rows.stop, device=device)[:, None] + first
        looked_at = torch.arange(columns.start, columns.stop, device=device)
        if self.tensor is None:
            if self.kind == "causal":
                return looked_at <= looking
            return (looked_at > looking - self.size) & (looked_at < looking + self.size)
        table = self.tensor.to(device)
        if self.kind == "padding":
            lengths = table.reshape(-1, *[1] * (len(shape) - 1))  # (batch, 1, …, 1)
            return looked_at < lengths if self.side == "right" else looked_at >= keys - lengths
        table = torch.atleast_2d(table)
        if table.size(-2) > 1:
            table = table[..., rows, :]
        if table.size(-1) > 1:
            table = table[..., columns]
        if self.kind == "bias":
            return table.to(torch.promote_types(table.dtype, torch.float32))
        return table if self.kind == "allowed" else ~table

    def hides_keys(self, dims: int) -> bool:
        """True if it says the same of a key to every query and every head of a sample."""
        if self.tensor is None or self.kind == "padding":
            return self.kind == "padding"
        sizes = [1, 1, 1, *self.tensor.shape]
        return sizes[-2] == 1 and (dims < 4 or sizes[-3] == 1)

    def check(self, shape: Sequence[int]) -> None:
        """ValueError if it does not fit scores of this shape."""
        if self.tensor is None:
            return
        sizes, scores = tuple(self.tensor.shape), f"scores (…, heads, queries, keys) of shape {tuple(shape)}"
        if self.kind != "padding":
            pairs = zip(reversed(sizes), reversed(shape), strict=False)
            if len(sizes) > len(shape) or any(given not in (1, wanted) for given, wanted in pairs):
                raise ValueError(f"Mask.{self.kind} of shape {sizes} does not broadcast to {scores}")
        elif len(shape) < 3 or sizes[0] != shape[0]:
            raise ValueError(f"Mask.padding has {sizes[0]} lengths; expected one a sample, for {scores}")
        # Inside a compiled graph values are not known, and reading one would break the graph.
        elif not torch.compiler.is_compiling() and self.extent and self.extent[1] > shape[-1]:
            raise ValueError(f"Mask.padding has a length of {self.extent[1]}, more keys than in {scores}")

    def __repr__(self) -> str:
        if self.first is not None:
            return f"Mask.causal(first={self.first})"
        if self.tensor is None:
            return f"Mask.{self.kind}({self.size or ''})"
        given = f"<{' × '.join(map(str, self.tensor.shape))}>"
        if self.kind != "padding":
            return f"Mask.{self.kind}({given})"
        if type(self.tensor) is Tensor and self.tensor.numel() <= 8:
            given = str(self.tensor.tolist())
        return f"Mask.padding({given}{'' if self.side == 'right' else ', side=' + repr(self.side)})"


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """Who may look at whom, as a description. Made by its constructors, combined with `&`.

    `a & b` allows what both allow; biases add. Without a mask everybody looks at everybody.
    """

    parts: tuple[Part, ...] = ()

    @staticmethod
    def causal(*, first: int | None = None) -> "Mask":
        """Nobody looks ahead: query i sees key j if j ≤ i + (keys − queries).

        The queries are the last ones of the keys. With more queries than keys, the first rows look at nobody.
        `first` says where else the first query stands: j ≤ i + first. PyTorch's own flag is `first=0`.
        """
        if first is not None and (isinstance(first, bool) or not isinstance(first, int) or first < 0):
            raise ValueError(f"first is {first!r}; expected the place of the first query: an integer from 0")
        return Mask((Part("causal", first=first),))

    @staticmethod
    def window(size: int) -> "Mask":
        """Each sees only those near it, itself included: |i − j| < size, aligned like `causal`."""
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(f"size of the window is {size!r}; expected an integer of at least 1")
        return Mask((Part("window", size=size),))

    @staticmethod
    def padding(lengths: Tensor | Sequence[int], side: Side = "right") -> "Mask":
        """Hides keys that only fill up a sample: `lengths` (batch,) counts the real ones.

        `side` is where the others stand. The batch is the first dimension, however many there are.
        """
        lengths = torch.as_tensor(lengths)
        if side not in ("right", "left"):
            raise ValueError(f'side is {side!r}; expected "right" or "left"')
        if lengths.dim() != 1:
            raise ValueError(f"lengths has shape {tuple(lengths.shape)}; expected (batch,)")
        if lengths.numel() and (lengths.is_floating_point() or lengths.dtype == torch.bool):
            raise TypeError(f"lengths has dtype {lengths.dtype}; expected integers, the number of real keys")
        extent = None
        if lengths.numel() and _is_readable(lengths):
            lengths = lengths.clone()  # or a change made later to the caller's would leave the extent behind
            extent = int(lengths.min()), int(lengths.max())
            if extent[0] < 0:
                raise ValueError(f"lengths holds {extent[0]}; expected 0 or more")
        return Mask((Part("padding", lengths, side=side, extent=extent),))

    @staticmethod
    def allowed(table: Tensor) -> "Mask":
        """True: may look. Boolean, broadcast from the right to (…, heads, queries, keys)."""
        return Mask((Part("allowed", _of_booleans(table, "allowed")),))

    @staticmethod
    def blocked(table: Tensor) -> "Mask":
        """True: may not look. Boolean, broadcast from the right to (…, heads, queries, keys)."""
        return Mask((Part("blocked", _of_booleans(table, "blocked")),))

    @staticmethod
    def bias(table: Tensor) -> "Mask":
        """Added to the scaled scores, broadcast from the right to (…, heads, queries, keys).

        −inf blocks; a very negative number does not. NaN and +inf are a ValueError.
        """
        if not isinstance(table, Tensor) or not table.is_floating_point():
            raise TypeError(
                f"Mask.bias takes a floating-point tensor, added to the scores, not {_what(table)}; to say "
                "who may look, write Mask.allowed(tensor) (True: may) or Mask.blocked(tensor) (True: may not)"
            )
        if _is_readable(table) and not bool((table < math.inf).all()):
            raise ValueError("Mask.bias holds NaN or +inf; expected finite numbers, or -inf to block")
        return Mask((Part("bias", table),))

    def __and__(self, other: "Mask") -> "Mask":
        return Mask(self.parts + check_mask(other).parts)

    def to(self, device: torch.device | str) -> "Mask":
        """The same mask with its tensors on `device`."""
        return Mask(
            tuple(p if p.tensor is None else replace(p, tensor=p.tensor.to(device)) for p in self.parts)
        )

    def to_tensor(self, *shape: int, device: torch.device | str = "cpu") -> Tensor:
        """The whole table, for the curious: `mask.to_tensor(queries, keys)`, or all sizes of the scores.

        Boolean, True: may look; with a bias among the parts, float, −inf where one may not.
        """
        if len(shape) < 2:
            raise ValueError(f"shape is {shape}; expected at least two sizes, queries and keys")
        self.check(shape)
        table = self.table(shape, slice(0, shape[-2]), slice(0, shape[-1]), torch.device(device))
        return table.expand(shape)

    def of_heads(self, heads: Sequence[int]) -> "Mask":
        """What it says of these heads alone, for scores (…, heads, queries, keys) of these heads alone."""

        def chosen(part: Part) -> Part:
            table = part.tensor
            if table is None or part.kind == "padding" or table.dim() < 3 or table.shape[-3] == 1:
                return part
            return replace(part, tensor=table[..., list(heads), :, :])

        return Mask(tuple(map(chosen, self.parts)))

    # What the layers ask. `shape` is always that of all the scores, (…, heads, queries, keys).

    @property
    def is_causal(self) -> bool:
        """True if it is Mask.causal() and nothing more."""
        return {(part.kind, part.first) for part in self.parts} == {("causal", None)}

    @property
    def has_bias(self) -> bool:
        return any(part.kind == "bias" for part in self.parts)

    def hides_keys(self, dims: int) -> bool:
        """True if all it does is to hide keys, as padding does: one row of its table serves every query."""
        return all(part.hides_keys(dims) for part in self.parts)

    def check(self, shape: Sequence[int]) -> None:
        """ValueError if it does not fit scores of this shape."""
        for part in self.parts:
            part.check(shape)

    def trim(self, keys: int) -> tuple[slice, "Mask | None"]:
        """Of padding alone: the keys that the longest sample has, and what is left to hide among those."""
        if torch.compiler.is_compiling() or len(self.parts) != 1 or self.parts[0].extent is None:
            return slice(0, keys), self
        shortest, longest = self.parts[0].extent
        kept = slice(0, longest) if self.parts[0].side == "right" else slice(keys - longest, keys)
        return kept, None if shortest == longest else self

    def columns(self, shape: Sequence[int], rows: slice) -> slice:
        """The keys outside of which none of these rows may look; never none, if there are any."""
        queries, keys = shape[-2:]
        first, last = 0, keys
        if torch.compiler.is_compiling():  # lengths are unknown: to compare them would tie the graph to some
            return slice(first, last)
        for part in self.parts:
            if part.kind in ("causal", "window"):
                place = keys - queries if part.first is None else part.first
                last = min(last, max(rows.stop + place + max(part.size - 1, 0), 0))
            if part.kind == "window":
                first = max(first, rows.start + (keys - queries) - part.size + 1)
            if part.kind == "padding" and part.extent and part.side == "right":
                last = min(last, part.extent[1])
            if part.kind == "padding" and part.extent and part.side == "left":
                first = max(first, keys - part.extent[1])
        last = max(last, 1)
        return slice(min(first, last - 1), last)

    def table(self, shape: Sequence[int], rows: slice, columns: slice, device: torch.device) -> Tensor:
        """A piece of the table, broadcastable. Boolean, True: may look. With a bias: float, −inf: may not."""
        allowed = bias = None
        for part in self.parts:
            table = part.table(shape, rows, columns, device)
            if part.kind == "bias":
                bias = table if bias is None else bias + table
            else:
                allowed = table if allowed is None else allowed & table
        if allowed is None:
            return torch.ones(1, 1, dtype=torch.bool, device=device) if bias is None else bias
        return allowed if bias is None else torch.where(allowed, bias, -math.inf)

    def nobody_is_alone(self, shape: Sequence[int]) -> bool:
        """True if every query has somebody to look at, as far as is known without reading a tensor."""
        from_start = all(part.first is not None for part in self.parts)
        if torch.compiler.is_compiling() or shape[-1] == 0 or (shape[-2] > shape[-1] and not from_start):
            return False
        itself = all(part.kind in ("causal", "window") and part.first is None for part in self.parts)
        the_first_key = all(
            part.kind == "causal" or (part.extent and part.extent[0] > 0 and part.side == "right")
            for part in self.parts
        )
        return itself or the_first_key

    def piece(self, shape, rows: slice, columns: slice, device, dtype) -> tuple[Tensor, Tensor | None]:
        """A piece of the table as numbers to add to the scores; and which rows look at nobody, (…, rows, 1).

        A softmax over nothing is NaN, and so is its gradient: here those rows look at everybody, so what
        comes of them has to be set to 0. None if there are none. There must be keys.
        """
        table = self.table(shape, rows, columns, device)
        if table.dtype == torch.bool:
            table = torch.where(table, 0.0, -math.inf)
        table = table.to(dtype)
        if self.nobody_is_alone(shape):
            return table, None
        nobody = table.detach().amax(-1, keepdim=True) == -math.inf
        return torch.maximum(table, torch.where(nobody, 0.0, -math.inf).to(dtype)), nobody

    def visible_keys(self, shape: Sequence[int], device: torch.device) -> Tensor | None:
        """(…, 1, keys), False at keys that nobody in the sample may look at; None if it hides no keys."""
        hiding = Mask(tuple(part for part in self.parts if part.hides_keys(len(shape))))
        if not hiding.parts:
            return None
        table = hiding.table(shape, slice(0, 1), slice(0, shape[-1]), device)
        return table if table.dtype == torch.bool else table != -math.inf

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts)) or "Mask()"


def check_mask(mask: object) -> Mask:
    """The mask, or TypeError: PyTorch reads a boolean both ways, so a bare tensor is not guessed at."""
    if isinstance(mask, Mask):
        return mask
    raise TypeError(
        f"mask is {_what(mask)}; expected a mirada.Mask: write Mask.allowed(tensor) (True: may look) or "
        "Mask.blocked(tensor) (True: may not look), or Mask.bias(tensor) for numbers added to the scores"
    )


def _of_booleans(table: Tensor, name: str) -> Tensor:
    if isinstance(table, Tensor) and table.dtype == torch.bool:
        return table
    raise TypeError(
        f"Mask.{name} takes a boolean tensor, not {_what(table)}; "
        "write .bool(), or Mask.bias(tensor) for numbers that are added to the scores"
    )


def _what(thing: object) -> str:
    return f"a tensor of {thing.dtype}" if isinstance(thing, Tensor) else f"a {type(thing).__name__}"


def _is_readable(tensor: Tensor) -> bool:
    """False while a graph is being compiled or exported: its tensors have no values yet."""
    return not torch.compiler.is_compiling() and type(tensor) is Tensor


# A mask may be an input of an exported program: its tensors are leaves, the rest is structure.
def _flatten(mask: Mask) -> tuple[list[Tensor], list[list]]:
    structure = [
        [part.kind, part.size, part.first, part.side, part.tensor is not None] for part in mask.parts
    ]
    return [part.tensor for part in mask.parts if part.tensor is not None], structure


def _unflatten(tensors, structure) -> Mask:
    left = iter(tensors)
    return Mask(
        tuple(
            Part(kind, next(left) if has else None, size, first, side)
            for kind, size, first, side, has in structure
        )
    )


pytree.register_pytree_node(
    Mask,
    _flatten,
    _unflatten,
    serialized_type_name="mirada.Mask",
    # torch.export names its inputs by these.
    flatten_with_keys_fn=lambda mask: (  # pyright: ignore[reportArgumentType]
        [(pytree.SequenceKey(i), tensor) for i, tensor in enumerate(_flatten(mask)[0])],
        _flatten(mask)[1],
    ),
)
torch.serialization.add_safe_globals([Mask, Part])  # and be saved with it
