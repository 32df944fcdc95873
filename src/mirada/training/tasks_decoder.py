"""Built-in tasks for a decoder: sums, and the next letter of a text."""

import hashlib
import re
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mirada.models.config import DecoderConfig
from mirada.models.decoder import Decoder
from mirada.models.generation import generate
from mirada.training.data import fingerprints, without
from mirada.training.errors import TrainingError
from mirada.training.families import DecoderTask, of_stack, placed, spell, tokens_of, writer
from mirada.training.options import TrainingOptions
from mirada.training.task import Answer, Batch, Task


class Addition(DecoderTask):
    """Two numbers of three digits and their sum, digit by digit.

    The sum is written from the ones upwards, as one does by hand: each digit then needs two digits of the
    question and a carry that what was just written gives away. From the left, the first digit would need
    all of them at once (Lee et al., "Teaching arithmetic to small transformers", 2023).
    """

    name = "addition"
    symbols = "0123456789+="
    question_length, answer_length = 8, 4
    train_size = 100_000
    defaults: ClassVar = {
        "epochs": 2,
        "d_model": 64,
        "heads": 4,
        "blocks": 2,
        "schedule": "cosine",
        "lr": 2e-3,
    }

    def samples(self, count: int, generator: torch.Generator) -> Tensor:
        a, b = torch.randint(0, 1000, (2, count), generator=generator)
        plus, equals = torch.full((1, count), 10), torch.full((1, count), 11)
        rows = (digits(a, 3).flip(0), plus, digits(b, 3).flip(0), equals, digits(a + b, 4))
        return torch.cat(rows).T.contiguous()

    def question(self, text: str) -> str:
        found = re.fullmatch(r"\s*([0-9]{1,3})\s*\+\s*([0-9]{1,3})\s*=?\s*", text)
        if not found:
            raise TrainingError("training.no_sum", text=text)
        return f"{found[1]:0>3}+{found[2]:0>3}="

    def readable(self, answer: str) -> str:
        return answer[::-1].lstrip("0") or "0"


def digits(numbers: Tensor, count: int) -> Tensor:
    """The last `count` digits of each number, ones first: (numbers,) to (count, numbers)."""
    return torch.stack([numbers // 10**place % 10 for place in range(count)])


class Letters(Task):
    """The next letter of a text, whichever it is. The last tenth of it is kept for the examination.

    Args:
        text: a UTF-8 file.
        context: how many letters the model sees.
        symbols, sha256: of the text of a run that is read back, which can answer where the text is gone.

    Raises:
        TrainingError: a file that cannot be read, is not UTF-8, or is too short for that context.
    """

    name = "letters"
    family = "decoder"
    train_size, validation_size = 20_000, 500
    defaults: ClassVar = {
        "epochs": 2,
        "d_model": 64,
        "heads": 4,
        "blocks": 2,
        "schedule": "cosine",
        "warmup": 50,
        "lr": 3e-3,
    }

    def __init__(self, text: str | Path, context: int = 64, symbols: str = "", sha256: str = ""):
        self.path, self.context, self.symbols, self.sha256 = Path(text).resolve(), context, symbols, sha256
        if not symbols:
            letters = read_text(self.path, least=10 * (context + 1), context=context)
            self.symbols = "".join(sorted(set(letters)))
            self.sha256 = sha256_of(letters)

    def describe(self) -> dict[str, Any]:
        told = {
            "text": str(self.path),
            "context": self.context,
            "symbols": self.symbols,
            "sha256": self.sha256,
        }
        return super().describe() | told

    def vocabularies(self) -> tuple[str]:
        return (self.symbols,)

    def data(self, seed: int) -> tuple[Batch, Batch]:
        letters = read_text(self.path, least=10 * (self.context + 1), context=self.context)
        if sha256_of(letters) != self.sha256:
            raise TrainingError("training.other_text", path=self.path)
        number = {symbol: i for i, symbol in enumerate(self.symbols)}
        text = torch.tensor([number[letter] for letter in letters])
        learnt, kept = text.tensor_split([len(text) * 9 // 10])
        size = self.context + 1
        generator = torch.Generator().manual_seed(seed)
        starts = torch.randint(0, len(learnt) - size + 1, (self.train_size,), generator=generator)
        train = windows(learnt, starts, size)
        places = len(kept) - size + 1
        starts = torch.arange(0, places, max(1, places // self.validation_size))[: self.validation_size]
        validation = without(windows(kept, starts, size), fingerprints(train))
        if not len(validation):
            raise TrainingError("training.repetitive", path=self.path)
        return train, validation

    def model(self, options: TrainingOptions) -> nn.Module:
        sizes = {"vocabulary": len(self.symbols), "max_length": self.context}
        return Decoder(DecoderConfig(**sizes, **of_stack(options)))

    def read(self, text: str) -> tuple[Tensor, ...]:
        if not text:
            raise TrainingError("training.empty")
        return (torch.tensor([tokens_of(text, self.symbols)[-(self.context // 2) :]]),)

    def show(self, batch: Batch, index: int) -> tuple[str, str]:
        return spell(batch.inputs[0][index], self.symbols), spell(batch.targets[index][-1:], self.symbols)

    def answer(self, model: nn.Module, text: str) -> Answer:
        """The text goes on until the context is full. Only the last half of a context is read of it.

        Drawn, since greedy letters soon turn in circles, but always in the same way.
        """
        (row,) = placed(self.read(text), model)
        written = generate(writer(model), row, self.context - row.shape[1], temperature=0.8, seed=0)
        given = torch.cat((row, written[:, :-1]), 1)
        said = spell(written[0], self.symbols)
        return Answer(spell(row[0], self.symbols), said, (given,), (tuple(spell(given[0], self.symbols)),))


def read_text(path: Path, least: int, context: int) -> str:
    """A UTF-8 file. TrainingError if it cannot be read, is not one, or is shorter than `least`."""
    try:
        text = path.read_text("utf-8-sig")  # some programs begin a file with a mark that is no letter
    except UnicodeDecodeError as error:
        raise TrainingError("training.not_utf8", path=path, place=error.start) from None
    except OSError as error:
        raise TrainingError("training.unreadable", path=path, reason=error.strerror or error) from None
    if len(text) < least:
        raise TrainingError("training.short_text", path=path, found=len(text), context=context, least=least)
    return text


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def windows(text: Tensor, starts: Tensor, size: int) -> Batch:
    """Pieces of a text, each token asked for after those before it: (starts, size - 1)."""
    rows = text[starts[:, None] + torch.arange(size)]
    return Batch((rows[:, :-1].contiguous(),), rows[:, 1:].contiguous())
