"""A task of somebody's own that gives what it may not: the sentence names the file and the method."""

import pickle
import re
from pathlib import Path

import pytest
import torch
from tiny import Tiny
from torch import nn

from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import find_task
from mirada.training.loop import train
from mirada.training.options import options_for
from mirada.training.runs import load_run
from mirada.training.stopping import Listener
from mirada.training.task import Batch, Task

TOP = """import torch
from mirada.training.families import DecoderTask, EncoderDecoderTask, EncoderTask
from mirada.training.task import Batch, Task
"""
ROWS = (
    TOP
    + """
class T(EncoderTask):
    symbols, length = "abc", 7
    train_size, validation_size = 41, 13
    defaults = {"epochs": 1, "d_model": 6}
    def targets(self, rows):
        return rows.flip(1)
"""
)
SUMS = (
    TOP
    + """
class T(DecoderTask):
    symbols, question_length, answer_length = "abc", 5, 2
    train_size, validation_size = 41, 13
    def samples(self, count, generator):
        return torch.randint(0, 3, (count, 7), generator=generator)
    def question(self, text):
        return text
"""
)
PAIRS = (
    TOP
    + """
class T(EncoderDecoderTask):
    source_symbols, target_symbols, source_length, target_length = "abc", "xyz", 5, 3
    train_size, validation_size = 3, 2
    def pairs(self, count, generator):
        rows = torch.randint(0, 3, (count, 5), generator=generator).tolist()
        return [("".join("abc"[i] for i in row), "xyz") for row in rows]
"""
)


@pytest.fixture
def write(tmp_path):
    def write(text, name="own.py"):
        (tmp_path / name).write_text(text)
        return name

    return write


@pytest.mark.parametrize("text", [ROWS, SUMS, PAIRS])
def test_as_they_are_they_are_learnt(write, text):
    assert train(write(text), steps=1, d_model=6, heads=2).finished


FLIP = "return rows.flip(1)"
DRAWN = "return torch.randint(0, 3, (count, 7), generator=generator)"
WRONG = [
    (ROWS, FLIP, "return None", '"targets" gives None, and int64 (41, …) is expected'),
    (ROWS, FLIP, "return [1, 2]", '"targets" gives list, and int64 (41, …)'),
    (ROWS, FLIP, "return rows.float()", '"targets" gives float32 (41, 7), and int64 (41, …)'),
    (ROWS, FLIP, "return rows[:, :5]", '"targets" gives int64 (41, 5), and int64 (41, 7) is expected'),
    (ROWS, FLIP, "return rows[:5]", "gives tensors of [41, 5] samples"),
    (ROWS, FLIP, "return rows + 7", '"targets" gives the number 9, and one of 0–2, −100 is expected'),
    (ROWS, FLIP, "return rows - 1", '"targets" gives the number -1, and one of 0, 1, 2, …, −100 is'),
    (ROWS, FLIP, "return rows * 0 - 100", '"targets" gives only −100'),
    (ROWS, FLIP, "raise SystemExit(0)", "line 10: SystemExit: 0"),
    (ROWS, "def targets", "def goals", '"targets" is missing'),
    (ROWS, '"abc", 7', '"", 7', "there are no symbols"),
    (ROWS, '"abc", 7', '"aba", 7', 'the symbol "a" is there twice'),
    (ROWS, '"d_model": 6', '"lr": -1', 'the options in its "defaults" are not valid (lr = -1)'),
    (ROWS, '"d_model": 6', '"d_model": 7', '"defaults" are not valid (d_model = 7, heads = 2)'),
    (SUMS, "(count, 7)", "(count, 6)", '"samples" gives int64 (41, 6), and int64 (41, 7) is expected'),
    (SUMS, "(count, 7)", "(5, 7)", '"samples" gives int64 (5, 7), and int64 (41, 7) is expected'),
    (SUMS, "randint(0, 3", "randint(3, 5", '"samples" gives the number 3, and one of 0–2 is expected'),
    (SUMS, DRAWN, "return None", '"samples" gives None, and int64 (41, 7) is expected'),
    (SUMS, ', question_length, answer_length = "abc", 5, 2', ' = "abc"', '"question_length" is missing'),
    (PAIRS, '"xyz") for', '"xy!") for', '"pairs" gives "!", which is not among the symbols'),
    (PAIRS, '"xyz") for', '"xyzx") for', '"pairs" gives a row of 4 symbols, and 3 at most'),
    (PAIRS, "(count, 5)", "(count, 6)", '"pairs" gives a row of 6 symbols, and 5 at most'),
    (PAIRS, "def pairs", "def couples", '"pairs" is missing'),
    (
        PAIRS,
        'source_symbols, target_symbols, source_length, target_length = "abc", "xyz", 5, 3',
        "",
        "is missing",
    ),
]


@pytest.mark.parametrize(("text", "before", "after", "said"), WRONG)
def test_what_is_wrong_is_said_with_file_and_method(write, text, before, after, said):
    assert before in text
    with pytest.raises(TrainingError, match=re.escape(said)) as caught:
        train(write(text.replace(before, after)), out="run")
    assert "own.py" in str(caught.value)
    assert not Path("run").exists()


class Whole(Task):
    """No family helps it."""

    name, family = "whole", "encoder"
    train_size, validation_size = 41, 13

    def examples(self, count, generator):
        rows = torch.randint(0, 5, (count, 7), generator=generator)
        return Batch((rows,), rows)

    def model(self, options):
        return nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5))


def test_a_model_without_attention_learns_and_has_no_maps():
    told = []

    class Sees(Listener):
        def on_maps(self, step, maps):
            told.append(maps)

    with pytest.warns(TrainingWarning, match="no attention that can be seen") as caught:
        run = train(Whole(), steps=5, snapshots_every=1, listener=Sees())
    assert len(caught) == 1
    assert (run.finished, run.maps, run.snapshots, told) == (True, {}, [], [])
    assert load_run(run.folder, Whole()).maps == {}
    assert all(module.training is False for module in run.model.modules())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda rows: rows, '"examples" gives int64 (41, 7), and Batch((Tensor, …), Tensor)'),
        (lambda rows: Batch(rows, rows), '"examples" gives int64 (41, 7), and Batch((Tensor, …), Tensor)'),
        (lambda rows: Batch((rows, None), rows), '"examples" gives None, and Tensor is expected'),
        (lambda rows: Batch((), rows[:0]), "gives tensors of [0] samples"),
    ],
)
def test_what_is_no_batch_is_said(given, said):
    class Odd(Whole):
        def examples(self, count, generator):
            return given(super().examples(count, generator).inputs[0])

    with pytest.raises(TrainingError, match=re.escape(said)):
        train(Odd(), steps=1)


def test_a_method_of_a_whole_task_that_is_missing_is_named():
    run = train(Whole(), steps=1, snapshots_every=0)
    with pytest.raises(TrainingError, match='whole: "answer" is missing'):
        run.answer("x")


def test_an_answer_that_fails_is_blamed_on_its_line(write):
    broken = ROWS + "    def answer(self, model, text):\n        return text / 0\n"
    run = train(write(broken), steps=1)
    for each in (run, load_run(run.folder)):
        with pytest.raises(TrainingError, match=r"own\.py, line 12: TypeError"):
            each.answer("abcabca")


def test_a_run_of_a_file_can_be_pickled(write):
    Path("other").mkdir()
    run = train(write(ROWS), steps=1)
    find_task(write(ROWS, "other/own.py"))  # a second file of that name
    again = pickle.loads(pickle.dumps(run))
    assert again.answer("abcabca").text == run.answer("abcabca").text
    assert again.task.describe() == run.task.describe()


class Unnamed(Tiny):
    name = ""


class Wants(Tiny):
    def __init__(self, size):
        self.size = size


def test_a_class_a_path_and_nothing_of_the_kind(write):
    run = train(Tiny, steps=1)
    assert load_run(run.folder, Tiny).step == 1
    assert train(Path(write(ROWS)), steps=1).task.name == "own"
    assert train(Unnamed(), steps=1).folder == Path("runs/unnamed")
    with pytest.raises(TrainingError, match=r"Wants cannot be made without arguments \(missing.*'size'\)"):
        train(Wants)
    for nothing in (5, b"reverse", int, Whole().model(None)):
        with pytest.raises(TrainingError, match="is no task: give the name of one"):
            train(nothing)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("quijote.txt", r'The file "quijote\.txt" does not exist.* numbers-en, digits\.$'),
        ("texts/quijote", 'The file "texts/quijote" does not exist'),
        (".", "is not a file"),
        ("/dev/zero", "is not a file"),
        ("a\0.b", "does not exist"),
    ],
)
def test_a_path_to_nothing_is_said(name, said):
    with pytest.raises(TrainingError, match=said):
        find_task(name)


def test_defaults_that_are_right_are_not_blamed_for_what_is_given():
    with pytest.raises(TrainingError, match="each head has 3"):
        options_for(Tiny(), positions="rotary")
