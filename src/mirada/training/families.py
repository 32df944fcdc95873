"""Tasks on rows of symbols, one for each family: who writes a task says the symbols and the answers."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.models.config import DecoderConfig, EncoderConfig, EncoderDecoderConfig
from mirada.models.decoder import Decoder
from mirada.models.encoder import Encoder
from mirada.models.encoder_decoder import EncoderDecoder
from mirada.models.generation import generate
from mirada.training.checking import check_tokens
from mirada.training.errors import TrainingError
from mirada.training.options import TrainingOptions
from mirada.training.task import IGNORED, Answer, Batch, Task

Pair = tuple[Sequence[str], Sequence[str]]
START = "▸"  # how the start sign of a target is shown


class EncoderTask(Task):
    """Each position of a row gives one answer. `targets` is all that must be written.

    Attributes:
        symbols: what rows are made of, one letter each; a token is the number of its symbol.
        outputs: what answers are made of; the same symbols unless told.
        length: of the rows.
    """

    family = "encoder"
    symbols: ClassVar[str] = "0123456789"
    outputs: ClassVar[str] = ""
    length: ClassVar[int] = 8

    def targets(self, rows: Tensor) -> Tensor:
        """The right answers to rows of tokens: (batch, length) to (batch, length), both int64."""
        raise NotImplementedError

    def examples(self, count: int, generator: torch.Generator) -> Batch:
        rows = torch.randint(0, len(self.symbols), (count, self.length), generator=generator)
        return Batch((rows,), self.targets(rows))

    def model(self, options: TrainingOptions) -> nn.Module:
        sizes = {"vocabulary": len(self.symbols), "outputs": len(self.answers), "max_length": self.length}
        return Encoder(EncoderConfig(**sizes, **of_stack(options)))

    def read(self, text: str) -> tuple[Tensor, ...]:
        if not any(symbol.isspace() for symbol in self.symbols):
            text = "".join(text.split())
        return (row_of(tokens_of(text, self.symbols), self.length),)

    def show(self, batch: Batch, index: int) -> tuple[str, str]:
        return spell(batch.inputs[0][index], self.symbols), spell(batch.targets[index], self.answers)

    def answer(self, model: nn.Module, text: str) -> Answer:
        (row,) = placed(self.read(text), model)
        text = spell(row[0], self.symbols)
        said = spell(self.run(model, Batch((row,), row))[0].argmax(-1), self.answers)
        return Answer(text, said, (row,), (tuple(text),))

    def vocabularies(self) -> tuple[Sequence[str], ...]:
        return self.symbols, self.answers

    @property
    def answers(self) -> str:
        return self.outputs or self.symbols


class DecoderTask(Task):
    """A question is continued with its answer, both of fixed lengths. `samples` and `question` must be.

    Attributes:
        symbols: what questions and answers are made of.
        question_length, answer_length: in symbols.
    """

    family = "decoder"
    symbols: ClassVar[str] = ""
    question_length: ClassVar[int]
    answer_length: ClassVar[int]

    def samples(self, count: int, generator: torch.Generator) -> Tensor:
        """Questions with their answers: (count, question_length + answer_length) int64."""
        raise NotImplementedError

    def question(self, text: str) -> str:
        """What a person typed, as the symbols of a question; TrainingError where it is none."""
        raise NotImplementedError

    def vocabularies(self) -> tuple[Sequence[str], ...]:
        return (self.symbols,)

    def readable(self, answer: str) -> str:
        """The symbols of an answer as a person reads them."""
        return answer

    def examples(self, count: int, generator: torch.Generator) -> Batch:
        size = (count, self.question_length + self.answer_length)
        rows = check_tokens(self, self.samples(count, generator), size, len(self.symbols))
        targets = rows[:, 1:].clone()
        targets[:, : self.question_length - 1] = IGNORED  # the question is given, not guessed
        return Batch((rows[:, :-1].contiguous(),), targets)

    def model(self, options: TrainingOptions) -> nn.Module:
        length = self.question_length + self.answer_length - 1
        return Decoder(DecoderConfig(vocabulary=len(self.symbols), max_length=length, **of_stack(options)))

    def read(self, text: str) -> tuple[Tensor, ...]:
        return (row_of(tokens_of(self.question(text), self.symbols), self.question_length),)

    def show(self, batch: Batch, index: int) -> tuple[str, str]:
        question = spell(batch.inputs[0][index][: self.question_length], self.symbols)
        return question, self.readable(spell(batch.targets[index], self.symbols))

    def answer(self, model: nn.Module, text: str) -> Answer:
        (row,) = placed(self.read(text), model)
        written = generate(writer(model), row, self.answer_length, temperature=0)
        said = spell(written[0], self.symbols)
        given = torch.cat((row, written[:, :-1]), 1)
        question = spell(row[0], self.symbols)
        return Answer(question, self.readable(said), (given,), (tuple(spell(given[0], self.symbols)),))


class EncoderDecoderTask(Task):
    """A source is read, a target written. `pairs` must be written, and `pieces` where they are not letters.

    Both may have any length up to the largest. The target begins with a start sign, which is given, and
    ends with an end sign, which must be written; what fills up shorter ones is neither looked at nor asked
    for.

    Attributes:
        source_symbols, target_symbols: what they are made of.
        source_length, target_length: the largest, in symbols.
    """

    family = "encoder_decoder"
    source_symbols: Sequence[str]
    target_symbols: Sequence[str]
    source_length: int
    target_length: int

    def pairs(self, count: int, generator: torch.Generator) -> Sequence[Pair]:
        """Sources and targets, as symbols."""
        raise NotImplementedError

    def pieces(self, text: str) -> Sequence[str]:
        """What a person typed, as symbols of a source; TrainingError where it is none."""
        return "".join(text.split())

    def spelled(self, source: Sequence[str]) -> str:
        """The symbols of a source as a person reads them."""
        return "".join(source)

    def vocabularies(self) -> tuple[Sequence[str], ...]:
        return self.source_symbols, self.target_symbols

    # Tokens: the symbols in their order, then what fills up a source; the symbols, then end and start of a
    # target.

    @property
    def padding(self) -> int:
        return len(self.source_symbols)

    @property
    def end(self) -> int:
        return len(self.target_symbols)

    @property
    def start(self) -> int:
        return len(self.target_symbols) + 1

    def examples(self, count: int, generator: torch.Generator) -> Batch:
        pairs = self.pairs(count, generator)
        number = {symbol: i for i, symbol in enumerate(self.source_symbols)}
        digit = {symbol: i for i, symbol in enumerate(self.target_symbols)}
        try:
            sources = [[number[symbol] for symbol in source] for source, _ in pairs]
            targets = [[digit[symbol] for symbol in target] + [self.end] for _, target in pairs]
        except KeyError as error:
            symbol = error.args[0]
            raise TrainingError("training.foreign_symbol", task=self.called, symbol=symbol) from None
        for rows, most in ((sources, self.source_length), (targets, self.target_length + 1)):
            longest = max(map(len, rows), default=0)
            if longest > most:
                found, want = longest - (rows is targets), most - (rows is targets)
                raise TrainingError("training.long_pair", task=self.called, found=found, want=want)
        given = [[self.start, *target[:-1]] for target in targets]
        return Batch(
            (
                filled(sources, self.source_length, self.padding),
                filled(given, self.target_length + 1, self.end),
            ),
            filled(targets, self.target_length + 1, IGNORED),
        )

    def model(self, options: TrainingOptions) -> nn.Module:
        return EncoderDecoder(
            EncoderDecoderConfig(
                source_vocabulary=len(self.source_symbols) + 1,
                target_vocabulary=len(self.target_symbols) + 2,
                source_length=self.source_length,
                target_length=self.target_length + 1,
                **of_stack(options),
            )
        )

    def run(self, model: nn.Module, batch: Batch, mask: Mask | None = None) -> Tensor:
        source, target = batch.inputs
        return model(source, target, source_mask=Mask.padding((source != self.padding).sum(1)))

    def read(self, text: str) -> tuple[Tensor, ...]:
        symbols = self.pieces(text)
        if not 1 <= len(symbols) <= self.source_length:
            want = f"1–{self.source_length}"
            raise TrainingError("training.bad_length", found=len(symbols), want=want)
        return (torch.tensor([tokens_of(symbols, self.source_symbols)]),)

    def show(self, batch: Batch, index: int) -> tuple[str, str]:
        source = batch.inputs[0][index]
        read = [str(self.source_symbols[i]) for i in source[source != self.padding].tolist()]
        return self.spelled(read), self.written(batch.targets[index].tolist())

    def answer(self, model: nn.Module, text: str) -> Answer:
        (source,) = placed(self.read(text), model)
        options = {"start": self.start, "stop": (self.end,), "temperature": 0}
        target = generate(writer(model), source, self.target_length + 1, **options)[0].tolist()
        said = self.written(target)
        symbols = tuple(str(self.source_symbols[i]) for i in source[0].tolist())
        given = [self.start, *target[:-1]]
        names = tuple(str(self.target_symbols[i]) if i < self.end else START for i in given)
        inputs = (source, torch.tensor([given], device=source.device))
        return Answer(self.spelled(symbols), said, inputs, (symbols, names))

    def written(self, target: Sequence[int]) -> str:
        """What stands before the end sign."""
        symbols: list[str] = []
        for token in target:
            if not 0 <= token < len(self.target_symbols):
                break
            symbols.append(self.target_symbols[token])
        return "".join(symbols)


def of_stack(options: TrainingOptions) -> dict:
    """What the options say of a model, as its config calls it."""
    return {
        "d_model": options.d_model,
        "num_heads": options.heads,
        "num_blocks": options.blocks,
        "positions": options.positions,
    }


def tokens_of(text: Sequence[str], symbols: Sequence[str]) -> list[int]:
    """The numbers of the symbols; TrainingError for one that is not known."""
    tokens = []
    for place, symbol in enumerate(text, 1):
        if symbol not in symbols:
            known = ("" if max(map(len, symbols)) == 1 else ", ").join(symbols)
            raise TrainingError("training.no_symbol", symbol=symbol, place=place, symbols=known)
        tokens.append(symbols.index(symbol))
    return tokens


def row_of(tokens: list[int], length: int) -> Tensor:
    """(1, length) int64; TrainingError for another length."""
    if len(tokens) != length:
        raise TrainingError("training.bad_length", found=len(tokens), want=length)
    return torch.tensor([tokens])


def spell(tokens: Tensor, symbols: str) -> str:
    """(length,) as text; what is ignored is left out."""
    return "".join(symbols[token] for token in tokens.tolist() if token != IGNORED)


def filled(rows: Sequence[Sequence[int]], length: int, fill: int) -> Tensor:
    """Rows of different lengths, filled up at the end: (rows, length) int64."""
    return torch.tensor([[*row, *[fill] * (length - len(row))] for row in rows])


def writer(model: nn.Module) -> Decoder | EncoderDecoder:
    """The model, where it is one that can generate."""
    if not isinstance(model, Decoder | EncoderDecoder):
        raise TypeError(f"{type(model).__name__} cannot generate: write the task's own `answer`")
    return model


def placed(inputs: tuple[Tensor, ...], model: nn.Module) -> tuple[Tensor, ...]:
    """The inputs where the model is."""
    device = next(model.parameters()).device
    return tuple(x.to(device) for x in inputs)
