"""A gaze: all that was seen while a model was watched."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mirada.catalogue import Language
from mirada.watching.asking import Which
from mirada.watching.call import Call, bytes_of
from mirada.watching.joining import begun, continues, join
from mirada.watching.look import Kind, Look
from mirada.watching.prints import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLS = "[CLS]"
Query = str | int | tuple[int, int]
Key = tuple[str, str]  # path and kind


class Looks:
    """Looks by number, by path or pattern, or by path and kind."""

    looks: dict[Key, Look]

    def __len__(self) -> int:
        return len(self.looks)

    def __iter__(self) -> Iterator[Look]:
        return iter(self.looks.values())

    def __getitem__(self, which: int | str | Key) -> Look:
        return chosen(self.looks, which)


class Run(Looks):
    """One run of the model, or one decoding: at most one look for a module and a kind."""

    def __init__(self):
        self.looks = {}

    @property
    def steps(self) -> int:
        return max((look.steps for look in self), default=0)


class Gaze(Looks):
    """Whom each token looks at, layer by layer. `print` it for what there is.

    `gaze[i]` and `gaze["layer.path"]` are looks, counted in the order in which the modules were first
    called; a second call that continues a decoding joins its look, any other opens a new one of `runs`, and
    the gaze itself speaks of the last. Where a module attends to itself and to another sequence, it has two
    looks: `gaze["path", "self"]`, `gaze["path", "cross"]`.

    Attributes:
        model: the name of the model's class.
        runs: one for each run, in order.
        unseen: (module path, sentence) for attention that is written out by hand and could not be seen.
        tokens: set it, a list of strings, and what is printed and drawn bears their names; with as many keys.
    """

    def __init__(self, model: str = ""):
        self.model = model
        self.runs: list[Run] = []
        self.unseen: list[tuple[str, str]] = []
        self._tokens: Sequence[str] | None = None

    @property
    def tokens(self) -> Sequence[str] | None:
        """Names of the keys: what is printed and drawn bears them, in looks of as many keys."""
        return self._tokens

    @tokens.setter
    def tokens(self, tokens: Sequence[str] | None) -> None:
        self._tokens = tokens
        for look in (look for run in self.runs for look in run):
            look.tokens = tokens

    @property
    def looks(self) -> dict[Key, Look]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The last look of each module and kind, in the order of their first call."""
        return {key: look for run in self.runs for key, look in run.looks.items()}

    @property
    def error(self) -> float | None:
        """The largest difference between what the weights give and what the model made, over all that was
        compared; None if nothing could be."""
        errors = [look.error for run in self.runs for look in run if look.error is not None]
        return max(errors, default=None)

    @property
    def proved(self) -> bool | None:
        """True if every look is; False if one is not; None if one could not be compared."""
        found = [look.proved for run in self.runs for look in run]
        return False if False in found else None if None in found or not found else True

    @property
    def memory(self) -> int:
        """Bytes kept: queries and keys, and masks that are tables; what is shared, once."""
        return bytes_of(call for run in self.runs for look in run for call in look.calls)

    def rollout(self, rows: Which = None, sample: int = 0) -> Tensor:
        """Whom each row looks at through all layers: (rows, keys), float32.

        The mean over heads of each layer, half of it kept for the token itself, multiplied from the last
        layer to the first (Abnar and Zuidema, "Quantifying attention flow in transformers", 2020, eq. 1).
        Only the rows asked for are carried through.

        Raises ValueError where self-attention is missing, or has layers of different lengths.
        """
        looks = [look for look in self if look.kind == "self"]
        sizes = {(look.rows, look.keys) for look in looks}
        if len(sizes) != 1 or any(rows != keys for rows, keys in sizes):
            raise ValueError(
                "rollout multiplies the tables of all layers: they must be square and of one size, and are "
                + (", ".join(f"{rows} × {keys}" for rows, keys in sorted(sizes)) or "none")
            )
        ((length, _),) = sizes
        carried = torch.eye(length, dtype=torch.float32)[looks[-1]._rows(rows)]
        for look in reversed(looks):
            mixed = torch.zeros_like(carried)
            step = max(1, 2**24 // (length * len(look.heads)))
            for start in range(0, length, step):
                part = range(start, min(start + step, length))
                weights = look.weights(rows=part)[look._sample(sample)].mean(0).cpu()
                mixed += carried[:, part.start : part.stop] @ weights
            carried = (carried + mixed) / 2
            carried = carried / carried.sum(-1, keepdim=True)
        return carried

    def overlay(
        self,
        image: Tensor,
        *,
        layer: int | str | None = -1,
        head: int | None = None,
        query: Query = CLS,
        grid: tuple[int, int] | None = None,
        registers: int = 0,
        temperature: float = 1.0,
        sample: int = 0,
        language: Language = "en",
    ) -> "Figure":
        """Whom one patch, or [CLS], looks at, laid over the picture, as `mirada.figures.overlay` draws it.

        Args:
            image: what the model read, (channels, height, width) from 0 to 1.
            layer: as in `gaze[layer]`; None for all of them, as `rollout` goes through them.
            head: one of the layer's; None for the mean of all.
            query: "[CLS]", "register 0", the number of a patch, from 0 row after row, or its (row, column).
            grid: rows and columns of patches, where squares do not cut `image` into as many.
            registers: how many tokens stand between [CLS] and the patches, as in DINOv2 with registers.
            temperature: divides the scores, as everywhere.
            sample: of the batch.
            language: "en" or "es".

        Raises:
            ValueError: another number of tokens than of patches, [CLS] and registers, a query that is not
                there, a layer of another kind, or what `mirada.figures.overlay` refuses.
            ImportError: matplotlib is missing.
        """
        from mirada.views.figure_overlay import overlay
        from mirada.watching.patched import patched

        *_, height, width = image.shape
        seen = patched(
            self, (height, width), layer, head, query, grid, registers, temperature, sample, language
        )
        return overlay(image, seen.weights, beside=seen.beside, query=seen.query, language=language)

    def to_dict(self) -> dict[str, Any]:
        """What there is, in plain Python, ready for JSON; the tables come from `.weights()`."""
        return {
            "model": self.model,
            "error": self.error,
            "memory": self.memory,
            "tokens": None if self.tokens is None else list(self.tokens),
            "unseen": [{"path": path, "why": why} for path, why in self.unseen],
            "runs": [[look.to_dict() for look in run] for run in self.runs],
        }

    def save(self, path, dtype: torch.dtype = torch.float32) -> None:
        """Write queries, keys and all that goes with them to one safetensors file, for `mirada.load_gaze`.

        Raises ValueError for a dtype other than float32 and float16.
        """
        from mirada.watching.files import save

        save(self, path, dtype)

    def __repr__(self) -> str:
        return table(self)

    # What a watcher writes.

    def add(self, path: str, kind: Kind, where: str, call: Call) -> None:
        """One call more: it joins a look, or begins one."""
        run = self.runs[-1] if self.runs else None
        look = None if run is None else run.looks.get((path, kind))
        if run is not None and look is not None and continues(look, call, run.steps):
            join(look, call)
            return
        if run is None or look is not None:
            run = Run()
            self.runs.append(run)
        run.looks[path, kind] = begun(path, kind, where, call)

    def note(self, path: str, why: str) -> None:
        """Attention that could not be seen."""
        if (path, why) not in self.unseen:
            self.unseen.append((path, why))


def chosen(looks: dict[Key, Look], which: int | str | Key) -> Look:
    """By number, by path or pattern, or by path and kind."""
    if isinstance(which, int):
        if not -len(looks) <= which < len(looks):
            raise IndexError(f"there is no look {which}: there are {len(looks)}, 0 to {len(looks) - 1}")
        return list(looks.values())[which]
    path, kind = which if isinstance(which, tuple) else (which, None)
    found = [look for key, look in looks.items() if key[0] == path and kind in (None, key[1])]
    if not found:
        found = [
            look
            for key, look in looks.items()
            if kind in (None, key[1]) and (fnmatchcase(key[0], path) or key[0].startswith(f"{path}."))
        ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{key[0] or '(the model itself)'} ({key[1]})" for key in list(looks)[:12])
    if not found:
        raise KeyError(f"{which!r} is none of the looks: {names}{' …' if len(looks) > 12 else ''}")
    raise KeyError(
        f"{which!r} could be any of {', '.join(f'{look.path} ({look.kind})' for look in found[:6])}; "
        'say the whole path, and the kind where there are two: gaze["path", "cross"]'
    )
