"""A row of a gaze at a picture: how much each patch is looked at, and each token that is no patch."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from mirada.catalogue import Language, say
from mirada.watching.gaze import CLS, Gaze, Query
from mirada.watching.look import MASKED, Look


@dataclass(frozen=True)
class Patched:
    """`weights` (rows, columns) of the patches, NaN where they may not be looked at; `beside`, the weight of
    each token that is no patch, by its name; `query`, who looks: a (row, column) of the patches, or a name.
    """

    weights: Tensor
    beside: dict[str, float]
    query: str | tuple[int, int]


def patched(
    gaze: Gaze,
    sides: tuple[int, int],
    layer: int | str | None,
    head: int | None,
    query: Query,
    grid: tuple[int, int] | None,
    registers: int,
    temperature: float,
    sample: int,
    language: Language,
) -> Patched:
    """See `Gaze.overlay`. `sides` are the height and width of the picture; names are those of a language."""
    looks = [look for look in gaze if look.kind == "self"]
    if not looks:
        raise ValueError("there is no self-attention in this gaze to lay over a picture")
    if layer is None and (head is not None or temperature != 1):
        raise ValueError(
            "layer=None goes through all heads of all layers as they are: leave head and temperature out"
        )
    if not temperature > 0 or math.isinf(temperature):
        raise ValueError(f"temperature must be a number above 0, but is {temperature}")
    if registers < 0:
        raise ValueError(f"registers must be how many there are, at least 0, but is {registers}")
    look = looks[-1] if layer is None else gaze[layer]
    if look.kind != "self" or look.rows != look.keys or look.steps > 1:
        raise ValueError(
            f"{look.path} looks from {look.rows} places at {look.keys} in {look.steps} steps; "
            "expected patches that look at each other, once"
        )
    rows, columns = _grid(look, sides, grid, registers)
    names = _names(look.keys - rows * columns, registers)
    row, who = _query(query, names, (rows, columns))
    if layer is None:
        weights = gaze.rollout(row, sample)[0]
    else:
        weights = _weights(look, head, row, sample, temperature)
    shown = {name: name for name in names}
    shown |= {f"register {i}": say("page.figure_register", language, number=i) for i in range(registers)}
    beside = dict(zip(shown.values(), weights[: len(names)].tolist(), strict=True))
    who = shown[who] if isinstance(who, str) else who
    return Patched(weights[len(names) :].reshape(rows, columns), beside, who)


def _weights(look: Look, head: int | None, row: int, sample: int, temperature: float) -> Tensor:
    """(keys,), float32: of one head, or the mean of all; NaN where none of them may look."""
    heads, place = look._heads(head), look._sample(sample)
    call = look.calls[0]
    colder = replace(call, scale=call.scale / temperature)
    weights = colder.weights(heads, [row])[place, :, 0].cpu()
    hidden = (look.states(head, row)[place, :, 0] == MASKED).all(0).cpu()
    return weights.mean(0).masked_fill(hidden, math.nan)


def _grid(
    look: Look, sides: tuple[int, int], grid: tuple[int, int] | None, registers: int
) -> tuple[int, int]:
    """Rows and columns of the patches: those given, or the only squares that cut the picture into as many."""
    height, width = sides
    counts = [look.keys - registers - 1, look.keys - registers]  # with [CLS], without
    if grid is not None:
        rows, columns = grid
        if rows > 0 and columns > 0 and rows * columns in counts:
            return rows, columns
        raise ValueError(
            f"a grid of {rows} rows × {columns} columns has {rows * columns} patches, but {look.path} has "
            f"{look.keys} tokens: expected {counts[0]} patches beside [CLS]"
            + (f" and {registers} registers" if registers else "")
            + f", or {counts[1]} without [CLS]; registers=… says how many of those there are"
        )
    for count in counts:
        size = math.isqrt(height * width // count) if count > 0 else 0
        if size and height % size == 0 and width % size == 0 and height * width == count * size**2:
            return height // size, width // size
    raise ValueError(
        f"no square patches cut a picture of {height} × {width} pixels into {counts[0]} (beside [CLS]) or "
        f"{counts[1]}, and {look.path} has {look.keys} tokens"
        + (f", {registers} of them registers" if registers else "")
        + ": give the picture in the size in which the model read it, or grid=(rows, columns); "
        "registers=… says how many tokens there are beside these"
    )


def _names(count: int, registers: int) -> list[str]:
    """Of the tokens before the patches: [CLS] first where there is one, as in ViT, DINOv2 and DINOv3."""
    named = [f"register {i}" for i in range(registers)]
    return named if count == registers else [CLS, *named]


def _query(query: Query, names: Sequence[str], grid: tuple[int, int]) -> tuple[int, str | tuple[int, int]]:
    """The row of the table, and who that is."""
    rows, columns = grid
    if isinstance(query, str):
        if query not in names:
            there = f"there are {', '.join(names)}" if names else "there are patches alone"
            raise ValueError(
                f"there is no {query!r} among the tokens: {there}; or choose a patch by its number"
            )
        return names.index(query), query
    row, column = query if isinstance(query, tuple) else divmod(query, columns)
    if not 0 <= row < rows or not 0 <= column < columns:
        raise ValueError(
            f"there is no patch {query}: they are numbered 0 to {rows * columns - 1}, or (row, column) up to "
            f"({rows - 1}, {columns - 1})"
        )
    return len(names) + row * columns + column, (row, column)
