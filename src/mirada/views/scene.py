"""A scene: all that a picture of attention knows, and nothing of the model it came from.

Rows look, columns are looked at. The same JSON is read by the page (`frontend/src/scene/scene.ts`); its
schema is `scene.schema.json` beside this file. Nothing here needs torch until weights are asked for.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

    from mirada.layers.masks import Mask

VERSION = 1
LIMIT = 1e60  # four factors of this size still multiply to a finite number
LEAST = 1e-60  # and may be divided by this one; written out, since 1 / 1e60 rounds to a little more

T = TypeVar("T")
Table = tuple[tuple[T, ...], ...]
_MASK_FIELDS = {
    "causal": (),
    "window": ("size",),
    "padding": ("length", "side"),
    "blocked": ("table",),
    "bias": ("table",),
}


@dataclass(frozen=True)
class SceneMask:
    """One condition of who may look at whom; a scene allows what all of its masks allow, and biases add.

    `causal`: nobody looks ahead. `window`: only those nearer than `size`. `padding`: only the first
    (`side="right"`) or last (`side="left"`) `length` columns are real. `blocked`: (rows, columns) of bool,
    True may not look. `bias`: (rows, columns) of numbers, added to the scores after the temperature.
    Causal and window count from the end, as `Mask` does: the rows are the last of the columns.
    """

    kind: Literal["causal", "window", "padding", "blocked", "bias"]
    size: int = 0
    length: int = 0
    side: Literal["right", "left"] = "right"
    table: Table[bool] | Table[float] | None = None


@dataclass(frozen=True)
class Scene:
    """Who looks at whom, as numbers. Frozen, checked, free of torch.

    Vectors are given as nested lists, or anything with `.tolist()` (tensors, arrays), and kept as tuples:
    `query` (rows, head_dim), `key` (columns, head_dim), `value` (columns, any width) or None. `scale`
    multiplies q·k and is 1/√head_dim unless given; `temperature` divides it. `masks` are `SceneMask`s or
    their dictionaries. `axes` says in words what rows and columns are: ("who looks", "who is looked at").

    Raises ValueError naming the place, what was found and what is expected.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    query: Table[float]
    key: Table[float]
    value: Table[float] | None = None
    scale: float | None = None
    temperature: float = 1.0
    masks: tuple[SceneMask, ...] = ()
    axes: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        def keep(name: str, value: Any) -> Any:
            object.__setattr__(self, name, value)
            return value

        rows = keep("rows", _list(self.rows, "rows", None, _text))
        columns = keep("columns", _list(self.columns, "columns", None, _text))
        query = keep("query", _vectors(self.query, "query", len(rows), None))
        keep("key", _vectors(self.key, "key", len(columns), len(query[0])))
        if self.value is not None:
            keep("value", _vectors(self.value, "value", len(columns), None))
        scale = 1 / math.sqrt(len(query[0])) if self.scale is None else self.scale
        keep("scale", _positive(scale, "scale"))
        keep("temperature", _positive(self.temperature, "temperature"))
        if not _is_list(self.masks):
            _refuse("masks", self.masks, "a list")
        places = (len(rows), len(columns))
        keep("masks", tuple(_mask(mask, f"masks[{i}]", *places) for i, mask in enumerate(self.masks)))
        keep("axes", _list(self.axes, "axes", 2, _text))

    @property
    def head_dim(self) -> int:
        return len(self.query[0])

    def mask(self) -> "Mask | None":
        """What the masks say, as a `mirada.Mask` for tensors of shape (1, 1, rows or columns, head_dim)."""
        import torch

        from mirada.layers.masks import Mask

        whole = None
        for part in self.masks:
            match part.kind:
                case "causal":
                    made = Mask.causal()
                case "window":
                    made = Mask.window(min(part.size, len(self.rows) + len(self.columns)))
                case "padding":
                    made = Mask.padding([part.length], side=part.side)
                case "blocked":
                    made = Mask.blocked(torch.tensor(part.table, dtype=torch.bool))
                case "bias":
                    made = Mask.bias(torch.tensor(part.table, dtype=torch.float64))
            whole = made if whole is None else whole & made
        return whole

    def weights(self) -> "Tensor":
        """How much each row looks at each column: (rows, columns), float64, by `mirada.attention_weights`."""
        from mirada.layers.attention import attention_weights

        query, key = _tensor(self.query), _tensor(self.key)
        return attention_weights(query, key, self.mask(), temperature=self._temperature())[0, 0]

    def output(self) -> "Tensor":
        """What each row takes with it: (rows, width of the values), float64, by `mirada.attention`.

        Raises ValueError for a scene without values.
        """
        from mirada.layers.attention import attention

        if self.value is None:
            raise ValueError("this scene has no value, so it has no output; give it one vector a column")
        query, key, value = _tensor(self.query), _tensor(self.key), _tensor(self.value)
        return attention(query, key, value, self.mask(), temperature=self._temperature())[0, 0]

    def _temperature(self) -> float:
        """The library divides by √head_dim · temperature where a scene multiplies by scale / temperature."""
        assert self.scale is not None
        return self.temperature / (self.scale * math.sqrt(self.head_dim))

    def to_dict(self) -> dict[str, Any]:
        """What JSON holds, every field filled in (but `value` where there is none)."""
        found: dict[str, Any] = {"version": VERSION}
        for name in ("rows", "columns", "query", "key", "value", "scale", "temperature"):
            if getattr(self, name) is not None:
                found[name] = _lists(getattr(self, name))
        found["masks"] = [
            {"kind": mask.kind, **{name: _lists(getattr(mask, name)) for name in _MASK_FIELDS[mask.kind]}}
            for mask in self.masks
        ]
        return found | {"axes": {"rows": self.axes[0], "columns": self.axes[1]}}

    def to_json(self) -> str:
        """The scene as one line of JSON; `from_json` gives an equal scene."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scene":
        """A scene from what JSON holds. ValueError also for a field that is missing, unknown, or null."""
        optional = {field.name for field in fields(cls)} - {"rows", "columns", "query", "key"}
        given = dict(_object(data, "scene", ("version", "rows", "columns", "query", "key"), optional))
        if (version := given.pop("version")) != VERSION or isinstance(version, bool):
            _refuse("version", version, f"{VERSION}, the only one there is")
        for name, found in given.items():
            if found is None:
                _refuse(name, None, "to be left out where there is nothing to say")
        if "axes" in given:
            axes = _object(given["axes"], "axes", (), {"rows", "columns"})
            given["axes"] = (axes.get("rows", ""), axes.get("columns", ""))
        return cls(**given)

    @classmethod
    def from_json(cls, text: str) -> "Scene":
        """A scene from its JSON text. ValueError as in `from_dict`, and for text that is not JSON."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"this is not JSON: {error}; expected the text that Scene.to_json writes"
            ) from None
        return cls.from_dict(data)


def _refuse(where: str, found: Any, expected: str) -> NoReturn:
    shown = repr(found)
    raise ValueError(f"{where} is {shown if len(shown) <= 60 else shown[:57] + '...'}; expected {expected}")


def _is_list(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes)


def _list(x: Any, where: str, count: int | None, item: Callable[[Any, str], T]) -> tuple[T, ...]:
    x = x.tolist() if hasattr(x, "tolist") else x
    if not _is_list(x):
        _refuse(where, x, "a list")
    if len(x) != count if count is not None else not x:
        wanted = "at least 1" if count is None else str(count)
        raise ValueError(f"{where} has {len(x)} entries; expected {wanted}")
    return tuple(item(y, f"{where}[{i}]") for i, y in enumerate(x))


def _vectors(x: Any, where: str, count: int, width: int | None) -> Table[float]:
    """A table whose rows all have as many numbers as its first, or as said."""

    def row(y: Any, at: str) -> tuple[float, ...]:
        nonlocal width
        vector = _list(y, at, width, _number)
        width = len(vector)
        return vector

    return _list(x, where, count, row)


def _text(x: Any, where: str) -> str:
    return x if isinstance(x, str) else _refuse(where, x, "text")


def _bool(x: Any, where: str) -> bool:
    return x if isinstance(x, bool) else _refuse(where, x, "true or false")


def _number(x: Any, where: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float):
        _refuse(where, x, "a number")
    if not abs(x) <= LIMIT:  # NaN too
        _refuse(where, x, f"a finite number of at most {LIMIT:g} (a mask of kind 'blocked' hides a cell)")
    return float(x)


def _positive(x: Any, where: str) -> float:
    number = _number(x, where)
    return number if number >= LEAST else _refuse(where, x, f"a number above 0 (at least {LEAST:g})")


def _whole(x: Any, where: str, low: int, high: float) -> int:
    number = _number(x, where)
    if number != int(number) or not low <= number <= high:
        _refuse(where, x, f"an integer from {low} to {high:g}")
    return int(number)


def _object(x: Any, where: str, must: Sequence[str], may: set[str]) -> Mapping[str, Any]:
    if not isinstance(x, Mapping):
        _refuse(where, x, "an object with named fields")
    if missing := [name for name in must if name not in x]:
        raise ValueError(f"{where} lacks {', '.join(missing)}")
    if unknown := [str(name) for name in x if name not in {*must, *may}]:
        raise ValueError(
            f"{where} has {', '.join(unknown)}; expected only {', '.join(sorted({*must, *may}))}"
        )
    return x


def _mask(x: Any, where: str, rows: int, columns: int) -> SceneMask:
    if isinstance(x, SceneMask):
        x = {name: getattr(x, name) for name in ("kind", *_MASK_FIELDS.get(x.kind, ()))}
    kind = _object(x, where, ("kind",), {"size", "length", "side", "table"})["kind"]
    if not isinstance(kind, str) or kind not in _MASK_FIELDS:
        _refuse(f"{where}.kind", kind, f"one of {', '.join(_MASK_FIELDS)}")
    found = dict(_object(x, where, ("kind", *_MASK_FIELDS[kind]), set()))
    if kind == "window":
        found["size"] = _whole(found["size"], f"{where}.size", 1, LIMIT)
    elif kind == "padding":
        found["length"] = _whole(found["length"], f"{where}.length", 0, columns)
        if found["side"] not in ("right", "left"):
            _refuse(f"{where}.side", found["side"], "'right' or 'left'")
    elif kind in ("blocked", "bias"):
        cell = _bool if kind == "blocked" else _number
        found["table"] = _list(
            found["table"], f"{where}.table", rows, lambda row, at: _list(row, at, columns, cell)
        )
    return SceneMask(**found)


def _lists(x: Any) -> Any:
    return [_lists(y) for y in x] if isinstance(x, tuple) else x


def _tensor(vectors: Table[float]) -> "Tensor":
    """(length, width) as (1, 1, length, width): padding belongs to the first dimension, the batch."""
    import torch

    return torch.tensor(vectors, dtype=torch.float64)[None, None]
