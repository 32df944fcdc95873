"""The state of the Words page: its words, their vectors, and what has been chosen.

The same as frontend/src/words/ (state.ts, sentences.ts, own.ts), from the same data, words.json; tests hold
the two together. Needs no torch.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from mirada.catalogue import LANGUAGES, Language

Sentence = Literal["money", "seat", "own"]
Vector = tuple[float, float]

GIVEN = ("money", "seat")
PARTS = ("query", "key", "value")
FEWEST, MOST = 2, 12
COLDEST, HOTTEST = 0.1, 10.0


@cache
def data() -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "words.json").read_text("utf-8"))


def names(sentence: str, language: Language) -> list[str]:
    """Which word stands at each position: the same name wherever it has the same vectors."""
    return [name for name, _ in data()["sentences"][sentence][language]]


def texts(sentence: str, language: Language) -> tuple[str, ...]:
    """The words as they are written."""
    return tuple(text for _, text in data()["sentences"][sentence][language])


@dataclass(frozen=True)
class WordsState:
    """One moment of the page. Checked when made: ValueError says what is wrong, and what was expected.

    `query`, `key` and `value` hold a 2-D vector for each word, coordinates from -2.5 to 2.5. `chosen` is the
    position that looks, `pinned` the one whose sum is shown (None: the one most looked at).
    """

    sentence: Sentence
    words: tuple[str, ...]
    query: tuple[Vector, ...]
    key: tuple[Vector, ...]
    value: tuple[Vector, ...]
    chosen: int
    pinned: int | None = None
    temperature: float = 1.0
    causal: bool = False

    def __post_init__(self):
        words = check_words(self.sentence, self.words)
        checked = {
            "words": words,
            "chosen": check_position("chosen", self.chosen, len(words)),
            "pinned": None if self.pinned is None else check_position("pinned", self.pinned, len(words)),
            "temperature": check_number("temperature", self.temperature, COLDEST, HOTTEST),
            **{part: check_vectors(part, getattr(self, part), len(words)) for part in PARTS},
        }
        if not isinstance(self.causal, bool):
            raise ValueError(f"causal is {self.causal!r}; expected True or False")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "WordsState":
        """A state from JSON. ValueError if a field is missing, unknown or wrong."""
        if not isinstance(given, Mapping):
            raise ValueError(f"a state is a mapping, got {type(given).__name__}")
        known = {field.name for field in fields(cls)}
        if missing := sorted(known - set(given)):
            raise ValueError(f"the state lacks {', '.join(missing)}")
        if unknown := sorted(map(str, set(given) - known)):
            raise ValueError(f"the state has unknown fields: {', '.join(unknown)}")
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """As JSON writes it."""
        state = asdict(self)
        return {
            **state,
            "words": list(self.words),
            **{part: [list(v) for v in state[part]] for part in PARTS},
        }

    def to_scene(self) -> dict[str, Any]:
        """The scene that the page draws, as JSON."""
        state = self.to_dict()
        return {
            "version": 1,
            "rows": state["words"],
            "columns": state["words"],
            **{part: state[part] for part in PARTS},
            "scale": math.sqrt(0.5),
            "temperature": self.temperature,
            "masks": [{"kind": "causal"}] if self.causal else [],
        }

    def carried(self, sentence: str, language: Language) -> "WordsState":
        """Another sentence, or this one in another language; a word in both takes its vectors along."""
        rest = start(sentence, language)
        before: list[str] = []
        if self.sentence != "own":
            before = next(
                names(self.sentence, each) for each in LANGUAGES if texts(self.sentence, each) == self.words
            )
        after = names(sentence, language)
        moved = {
            part: tuple(
                getattr(self, part)[before.index(name)] if name in before else getattr(rest, part)[i]
                for i, name in enumerate(after)
            )
            for part in PARTS
        }

        def place(position: int | None) -> int | None:
            if position is None or not before or before[position] not in after:
                return None
            return after.index(before[position])

        chosen = place(self.chosen)
        return replace(
            rest,
            **moved,
            chosen=rest.chosen if chosen is None else chosen,
            pinned=place(self.pinned),
            temperature=self.temperature,
            causal=self.causal,
        )


def start(sentence: str = "money", language: Language = "es") -> WordsState:
    """The sentence at rest: banco chosen, temperature 1, nobody hidden."""
    if sentence not in GIVEN:
        raise ValueError(f"sentence is {sentence!r}; expected 'money' or 'seat', or words of your own")
    order = names(sentence, language)
    vectors = {part: tuple(data()["vectors"][name][part] for name in order) for part in PARTS}
    return WordsState(sentence, texts(sentence, language), **vectors, chosen=order.index("banco"))  # pyright: ignore[reportArgumentType]


def start_own(words: Sequence[str]) -> WordsState:
    """Words of one's own, with vectors that are easy to move.

    Keys stand in a ring, values in a smaller one; every query points to the key of the word before.
    """
    words = check_words("own", words)

    def ring(radius: float, middle: float, turn: int) -> tuple[Vector, ...]:
        angles = [math.pi * (0.94 - (2 * (i + turn)) / len(words)) for i in range(len(words))]
        return tuple(
            (tenth(middle + radius * math.cos(a)), tenth(middle + radius * math.sin(a))) for a in angles
        )

    return WordsState("own", words, ring(1.2, 0, -1), ring(1.8, 0, 0), ring(1, 1.2, 0), chosen=len(words) - 1)


def tenth(x: float) -> float:
    """Rounded to the grid as JavaScript's Math.round does it: halves upwards."""
    return math.floor(10 * x + 0.5) / 10


def check_words(sentence: str, words: Sequence[str]) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise ValueError(f"words is {words!r}; expected a list of words")
    words = tuple(words)
    if sentence in GIVEN:
        if not any(texts(sentence, language) == words for language in LANGUAGES):
            raise ValueError(
                f"words is {list(words)}, which is not the sentence {sentence!r} in any language"
            )
        return words
    if sentence != "own":
        raise ValueError(f"sentence is {sentence!r}; expected 'money', 'seat' or 'own'")
    if not FEWEST <= len(words) <= MOST:
        raise ValueError(f"words has {len(words)} of them; expected {FEWEST} to {MOST}")
    for word in words:
        if not isinstance(word, str) or not is_word(word):
            raise ValueError(f"words holds {word!r}; expected something to see, without spaces inside")
    return words


def is_word(text: str) -> bool:
    """As on the page: something can be seen, and nothing splits it. A sign too new for Python is a sign."""
    kinds = [unicodedata.category(sign) for sign in text]
    seen = any(kind == "Cn" or kind[0] not in "CZM" for kind in kinds)
    return seen and not re.search(r"\s", text) and not {"Cc", "Cs"} & set(kinds)


def check_position(name: str, position: Any, count: int) -> int:
    if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < count:
        raise ValueError(f"{name} is {position!r}; expected the position of a word, from 0 to {count - 1}")
    return position


def check_vectors(name: str, vectors: Any, count: int) -> tuple[Vector, ...]:
    if isinstance(vectors, str) or not hasattr(vectors, "__len__") or len(vectors) != count:
        raise ValueError(f"{name} is {vectors!r}; expected {count} vectors, one a word")
    return tuple(check_vector(f"{name}[{i}]", vector) for i, vector in enumerate(vectors))


def check_vector(name: str, vector: Any) -> Vector:
    if isinstance(vector, str) or not hasattr(vector, "__len__") or len(vector) != 2:
        raise ValueError(f"{name} is {vector!r}; expected two numbers")
    reach = data()["range"]
    x, y = (check_number(name, each, -reach, reach) for each in vector)
    return x, y


def check_number(name: str, given: Any, low: float, high: float) -> float:
    """A plain float from any kind of number (NumPy's and PyTorch's too), without a negative zero."""
    try:
        number = math.nan if isinstance(given, (bool, str, bytes)) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:  # NaN is in no range
        raise ValueError(f"{name} is {given!r}; expected a number from {low:g} to {high:g}")
    return number + 0.0
