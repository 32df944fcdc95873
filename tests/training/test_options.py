"""What may be chosen, what is refused, and how the learning rate goes."""

import json
import math

import numpy as np
import pytest
import torch

from mirada.training.errors import TrainingError
from mirada.training.finding import find_task
from mirada.training.options import TrainingOptions, changed, options_for


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": 0}, 'value "0" is not valid for steps'),
        ({"epochs": 1.5}, "epochs"),
        ({"batch_size": True}, "batch_size"),
        ({"lr": 0.0}, "lr"),
        ({"lr": math.nan}, "lr"),
        ({"lr": math.inf}, "lr"),
        ({"lr": "fast"}, "lr"),
        ({"schedule": "linear"}, "schedule: expected constant, cosine"),
        ({"positions": "some"}, "positions: expected learned"),
        ({"precision": "float16"}, "precision"),
        ({"seed": -1}, "seed"),
        ({"threads": 0}, "threads"),
        ({"snapshots_every": -1}, "snapshots_every"),
        ({"d_model": 10, "heads": 3}, "10 cannot be shared among 3"),
        ({"d_model": 6, "heads": 2, "positions": "rotary"}, "each head has 3"),
        ({"device": "toaster"}, '"toaster" cannot be used here'),
        ({"speed": 3}, 'no option "speed"'),
    ],
)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises(TrainingError, match=said):
        options_for(find_task("reverse"), **given)


def test_a_decoder_is_causal_by_itself():
    with pytest.raises(TrainingError, match="never looks ahead"):
        options_for(find_task("addition"), causal=True)


def test_the_task_has_defaults_and_who_asks_has_the_last_word(task):
    assert options_for(task).batch_size == 11
    assert options_for(task, batch_size=3, lr=None).batch_size == 3
    assert options_for(task).length(4) == 4
    assert options_for(task, steps=7).length(4) == 7  # not the one epoch that the task has by default
    assert options_for(task, steps=7, epochs=1).length(4) == 4
    assert TrainingOptions().length(5) == 5


def test_a_run_that_goes_on_keeps_what_its_weights_depend_on():
    options = TrainingOptions(epochs=1)
    assert changed(options, lr=1e-3, d_model=None) == options
    assert changed(options, steps=99).length(5) == 99
    assert changed(options, threads=2, checkpoint_every=7).checkpoint_every == 7
    with pytest.raises(TrainingError, match=r"has lr = 0\.001, and goes on with it, not with 0\.1"):
        changed(options, lr=0.1)
    with pytest.raises(TrainingError, match='no option "speed"'):
        changed(options, speed=1)


def test_the_learning_rate_by_hand():
    constant = TrainingOptions(lr=0.5)
    assert [constant.learning_rate(step, 9) for step in (1, 5, 9)] == [0.5] * 3
    cosine = TrainingOptions(lr=0.5, schedule="cosine", warmup=2)
    rates = [cosine.learning_rate(step, 6) for step in range(1, 8)]
    falls = [0.25 * (1 + math.cos(math.pi * share)) for share in (0.25, 0.5, 0.75, 1, 1)]
    assert rates == pytest.approx([0.25, 0.5, *falls])
    assert TrainingOptions(schedule="cosine").learning_rate(1, 1) == pytest.approx(0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"threads": 1_000_000}, 'value "1000000" is not valid for threads: expected 1–256'),
        ({"lr": int("1" + "0" * 400)}, "lr: expected > 0"),
        ({"lr": 10**5000}, "lr: expected > 0"),
        ({"lr": True}, "lr"),
        ({"steps": 2**63}, "steps"),
        ({"causal": "no"}, "causal: expected True, False"),
        ({"causal": 1}, "causal"),
        ({"device": 0}, "device: expected cpu"),
        ({"device": "meta"}, '"meta" cannot be used here'),
        ({"device": torch.device("meta")}, '"meta" cannot be used here'),
    ],
)
def test_what_looks_as_if_it_could_be_is_refused(given, said):
    with pytest.raises(TrainingError, match=said) as caught:
        options_for(find_task("reverse"), **given)
    assert len(str(caught.value)) < 200


def test_numbers_and_devices_of_other_libraries_are_taken_as_our_own():
    given = {
        "steps": np.int64(3),
        "seed": np.uint8(5),
        "snapshots_every": torch.tensor(2),
        "lr": np.float32(0.5),
    }
    options = options_for(find_task("reverse"), **given, device=torch.device("cpu"))
    assert json.loads(json.dumps(options.to_dict())) == options.to_dict()
    assert (options.steps, options.seed, options.snapshots_every) == (3, 5, 2)
    assert (options.lr, options.device) == (0.5, "cpu")
