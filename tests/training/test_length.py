"""Longer, shorter, and no longer at all: where a run that goes on may end."""

import pytest
import torch
from tiny import everything, stopped

from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.loop import train
from mirada.training.runs import load_run


def test_a_run_cannot_end_before_where_it_is(task):
    run = stopped(task, 6, epochs=3)
    before = (run.folder / "run.json").read_bytes()
    for length in ({"steps": 5}, {"epochs": 1}):
        with pytest.raises(
            TrainingError, match=r"already at step 6, and cannot end at step [45]\. Ask for 6"
        ):
            train(task, resume=run.folder, **length)
    assert (run.folder / "run.json").read_bytes() == before


def test_a_run_that_now_ends_where_it_was_stopped_is_examined(task):
    straight = train(task, steps=3)
    run = stopped(task, 3)
    assert run.score is None
    again = train(task, resume=run.folder, steps=3)
    assert everything(again)[:2] == everything(straight)[:2]
    assert again.snapshots == [0, 1, 2, 3]
    assert (again.finished, load_run(run.folder, task).score) == (True, straight.score)
    assert everything(train(task, resume=run.folder)) == everything(again)  # and once is enough


def test_a_schedule_that_knows_its_end_says_that_it_moved(task):
    run = train(task, steps=5, schedule="cosine")
    said = r"\"cosine\".* Until step 5 it was that of 5 steps; from here on it is that of 10"
    with pytest.warns(TrainingWarning, match=said):
        longer = train(task, resume=run.folder, steps=10)
    # What it says is so: these are not the weights of ten steps.
    assert everything(longer)[0] != everything(train(task, steps=10, schedule="cosine"))[0]
    rates = [line["lr"] for line in longer.metrics if line["kind"] == "training"]
    options = longer.options
    assert rates == [
        options.learning_rate(step, total) for step, total in ((4, 5), (5, 5), (8, 10), (10, 10))
    ]


def test_the_maps_of_what_was_lost_go_with_it(task):
    run = stopped(task, 7, epochs=3, checkpoint_every=3, snapshots_every=1)
    (run.folder / "checkpoints" / "step-00000007" / "weights.safetensors").write_bytes(b"")
    with pytest.warns(TrainingWarning, match="the one of step 6"):
        again = load_run(run.folder, task)
    assert (again.step, again.snapshots) == (6, list(range(7)))
    assert torch.equal(again.maps["self"], run.maps["self"][:7])
