"""A run goes on with the data it began with, or not at all: a name and a path say too little."""

import json
import warnings
from pathlib import Path

import pytest
from tiny import Tiny, everything, stopped

from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import find_task
from mirada.training.fingerprint import fingerprint
from mirada.training.loop import train
from mirada.training.runs import load_run
from mirada.training.tasks_encoder import Reverse

MINE = """from mirada.training.families import EncoderTask
class Mine(EncoderTask):
    symbols, length = "xyz", 5
    train_size, validation_size = 41, 13
    defaults = {"epochs": 3, "d_model": 6}
    def targets(self, rows):
        return rows.flip(1)
"""


def smaller(task, train_size=211, validation_size=17):
    task.train_size, task.validation_size = train_size, validation_size
    return task


def test_the_sizes_of_a_built_in_task_are_part_of_its_run():
    options = {"steps": 7, "d_model": 8}
    straight = train(smaller(Reverse()), **options)
    run = stopped(smaller(Reverse()), 3, **options)
    again = train(resume=run.folder)
    assert (again.task.train_size, again.task.validation_size) == (211, 17)
    assert everything(again)[0] == everything(straight)[0]
    assert load_run(run.folder).task.train_size == 211
    for other in (Reverse(), smaller(Reverse(), 210), smaller(Reverse(), 211, 18)):
        with pytest.raises(TrainingError, match="no longer gives the data"):
            train(other, resume=run.folder)


def test_letters_keep_their_sizes(tmp_path):
    (tmp_path / "text").write_text("".join(f"{i} veces, " for i in range(300)))
    run = train(smaller(find_task("text"), 53, 7), steps=2, d_model=8, heads=2, blocks=1)
    assert load_run(run.folder).task.train_size == 53
    assert train(resume=run.folder, steps=2).finished


@pytest.mark.parametrize(
    ("before", "after"),
    [("rows.flip(1)", "rows.clone()"), ('"xyz"', '"zyx"'), ("= 41", "= 43"), ("= 41, 13", "= 41, 11")],
)
def test_a_file_that_was_edited_is_noticed(before, after):
    Path("mine.py").write_text(MINE)
    run = stopped("mine.py", 2)
    Path("mine.py").write_text(MINE.replace(before, after))
    with pytest.raises(TrainingError, match="its file was edited"):
        train(resume=run.folder)
    assert load_run_warned(run.folder).step == 2
    Path("mine.py").write_text(f"# A comment changes nothing.\n{MINE}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_run(run.folder)
        assert train(resume=run.folder).finished


def load_run_warned(folder):
    with pytest.warns(TrainingWarning, match="may be spelt wrong"):
        return load_run(folder)


def test_data_that_cannot_be_made_any_more_do_not_keep_a_run_from_answering(task):
    run = train(task)

    class Gone(Tiny):
        def data(self, seed):
            raise FileNotFoundError("the data")

    assert load_run(run.folder, Gone()).answer("abcdeab").text == run.answer("abcdeab").text


def test_a_run_of_an_older_mirada_has_no_fingerprint_and_goes_on(task):
    run = stopped(task, 2)
    told = json.loads((run.folder / "run.json").read_text())
    assert told["data"] == fingerprint(task, *task.data(0))
    (run.folder / "run.json").write_text(json.dumps({k: x for k, x in told.items() if k != "data"}))
    assert load_run(run.folder, task).step == 2
    assert train(task, resume=run.folder).finished
    assert json.loads((run.folder / "run.json").read_text())["data"] == told["data"]


class Namesake(Tiny):
    name = "reverse"


def test_somebodys_class_is_not_the_built_in_one_of_that_name():
    run = stopped(Namesake(), 2)
    for attempt in (load_run, lambda *given: train(resume=given[0], task=next(iter(given[1:]), None))):
        for given in ((), ("reverse",)):
            with pytest.raises(TrainingError, match='"reverse" was defined in a program'):
                attempt(run.folder, *given)
    assert train(Namesake(), resume=run.folder).finished
