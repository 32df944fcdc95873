"""Built-in tasks for an encoder-decoder: a row backwards, and numbers in words to digits."""

import unicodedata
from collections.abc import Sequence
from typing import ClassVar

import torch

from mirada.training.errors import TrainingError
from mirada.training.families import EncoderDecoderTask, Pair
from mirada.training.number_words import Tongue, in_words, vocabulary


class ReversePairs(EncoderDecoderTask):
    """Eight digits, written backwards one by one: each step looks across at the next one from the end."""

    name = "reverse-seq2seq"
    source_symbols = target_symbols = "0123456789"
    source_length = target_length = 8
    defaults: ClassVar = {"epochs": 2, "d_model": 64, "heads": 4, "schedule": "cosine", "lr": 2e-3}

    def pairs(self, count: int, generator: torch.Generator) -> list[Pair]:
        rows = torch.randint(0, 10, (count, self.source_length), generator=generator).tolist()
        sources = ["".join(map(str, row)) for row in rows]
        return [(source, source[::-1]) for source in sources]

    def read(self, text: str):
        if len(self.pieces(text)) != self.source_length:  # shorter ones it has never seen
            raise TrainingError("training.bad_length", found=len(self.pieces(text)), want=self.source_length)
        return super().read(text)


class NumberWords(EncoderDecoderTask):
    """A number in words, written in digits: 0 to 999,999.

    Args:
        tongue: "es" or "en".
    """

    target_symbols = "0123456789"
    target_length = 6
    source_length = 9  # words, in either language
    defaults: ClassVar = {
        "epochs": 5,
        "d_model": 64,
        "heads": 4,
        "blocks": 2,
        "schedule": "cosine",
        "lr": 2e-3,
    }

    def __init__(self, tongue: Tongue):
        self.tongue: Tongue = tongue
        self.source_symbols = vocabulary(tongue)
        self.plain = {without_accents(word): word for word in self.source_symbols}

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"numbers-{self.tongue}"

    def pairs(self, count: int, generator: torch.Generator) -> list[Pair]:
        # Of all numbers, nine in ten have six digits: so a power of ten is drawn first, then a number below
        # it.
        lengths = torch.randint(1, 7, (count,), generator=generator)
        shares = torch.rand(count, generator=generator, dtype=torch.float64)
        numbers = (shares * 10**lengths).long().tolist()
        return [(in_words(number, self.tongue), str(number)) for number in numbers]

    def pieces(self, text: str) -> list[str]:
        """Words in any case, with accents or without, with hyphens and with an English "and" or without."""
        words = [
            self.plain.get(without_accents(word), word) for word in text.lower().replace("-", " ").split()
        ]
        return [word for word in words if not (self.tongue == "en" and word == "and")]

    def spelled(self, source: Sequence[str]) -> str:
        return " ".join(source)


def without_accents(word: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )
