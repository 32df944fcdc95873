"""A task by its name, and from a file in which something is wrong."""

import re
from pathlib import Path

import pytest
import torch

from mirada.training.errors import TrainingError
from mirada.training.finding import BUILT_IN, described, find_task
from mirada.training.loop import train
from mirada.training.runs import load_run
from mirada.training.task import Task
from mirada.training.tasks_decoder import Letters

EXAMPLE = Path(__file__).parents[2] / "docs" / "my_task.py"
IMPORT = "from mirada.training.families import EncoderTask\n"
GOOD = f"""{IMPORT}
class Mine(EncoderTask):
    symbols, length = "xyz", 5
    train_size, validation_size = 41, 13
    defaults = {{"epochs": 1, "d_model": 6}}

    def targets(self, rows):
        return rows.flip(1)
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mine.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_tasks_have_their_names(name):
    assert find_task(name).name == name
    assert described(find_task(name).describe()).name == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("revrse", "Did you mean reverse?"),
        ("zzz", "There are reverse, copy"),
        ("letters", "give the path of a UTF-8 file"),
        ("none.py", r"none\.py\" cannot be read \(No such file"),
    ],
)
def test_an_unknown_task_says_which_there_are(name, said):
    with pytest.raises(TrainingError, match=said):
        find_task(name)


def test_any_other_file_is_a_text(tmp_path):
    (tmp_path / "text").write_text("0123456789" * 70)
    assert isinstance(find_task("text"), Letters)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\nb = (", "mine.py, line 2: this is not Python"),
        (b"a = '\xff'", "mine.py, line 1: this is not Python"),
        (b"a = '\0'", "mine.py, line 1: this is not Python"),
        ("a = 1\n\nb = a / 0", "mine.py, line 3: ZeroDivisionError: division by zero"),
        ("import not_there", "mine.py, line 1: ModuleNotFoundError"),
        ("\nraise SystemExit(3)", "mine.py, line 2: SystemExit: 3"),
        ("a = 1", "mine.py defines no task"),
        (IMPORT, "mine.py defines no task"),  # what it imports is not its own
        (GOOD + "class Other(EncoderTask): pass", r"several tasks \(Mine, Other\)"),
        (GOOD + "a, b = Mine(), Mine()", r"several tasks \(a, b\)"),
        (GOOD + "    def __init__(self):\n        self.x = 1 / 0", "mine.py, line 11: ZeroDivisionError"),
        (
            GOOD + "    def __init__(self, size): pass",
            r"Mine \(.*mine.py\) cannot be made without arguments \(.*'size'\)",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(write, text, said):
    with pytest.raises(TrainingError, match=said):
        find_task(write(text))


@pytest.mark.parametrize(
    "more",
    [
        "",
        "task = Mine()",
        "class Longer(Mine):\n    length = 5\n",  # what it builds on is no second task
        "class Longer(Mine):\n    pass\ntask = Longer()",
        "import dataclasses\n@dataclasses.dataclass\nclass Kept:\n    x: int = 1\n",
    ],
)
def test_one_task_is_found_and_bears_the_name_of_its_file(write, more):
    task = find_task(write(GOOD + more))
    assert task.name == "mine"
    assert described(task.describe()).length == 5


@pytest.mark.parametrize("method", ["targets", "model", "examples", "run"])
def test_a_mistake_that_shows_later_is_named_with_its_line(write, method):
    broken = GOOD + f"\n    def {method}(self, *given):\n        return given[99]\n"
    line = len(broken.splitlines())
    with pytest.raises(TrainingError, match=rf"mine\.py, line {line}: IndexError: tuple index"):
        train(write(broken))


def test_what_goes_wrong_elsewhere_is_not_blamed_on_the_file(write):
    class Angry:
        def __getattr__(self, name):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        train(write(GOOD), listener=Angry())


def test_a_run_finds_its_file_again(write):
    run = train(write(GOOD))
    again = load_run(run.folder)
    assert again.answer("xyzzy").text == run.answer("xyzzy").text
    Path(write(GOOD)).unlink()
    for attempt in (load_run, lambda folder: train(resume=folder)):
        with pytest.raises(TrainingError, match=r"no longer there.*mirada train NEW\.py --resume DIR"):
            attempt(run.folder)
    Path("new.py").write_text(GOOD.replace("symbols,", 'name = "mine"\n    symbols,'))
    assert train("new.py", resume=run.folder).task.file == str(Path("new.py").absolute())
    assert load_run(run.folder).task.file == str(Path("new.py").absolute())


def test_the_example_is_short_and_is_learnt():
    assert len(EXAMPLE.read_text().splitlines()) <= 30
    task = find_task(str(EXAMPLE))
    assert isinstance(task, Task)
    batch = task.examples(100, torch.Generator().manual_seed(0))
    for i in range(100):
        question, answer = task.show(batch, i)
        assert answer == max("abcde", key=question.count) * 11
    run = train(task, steps=300)
    assert run.score.tokens > 0.8
    assert re.fullmatch("a{11}", run.answer("abababababa").text)
