"""What a run tells, keeps and answers; what stops it."""

import errno
import json
import math
from pathlib import Path

import pytest
import torch
from tiny import Tiny, everything, stopped

from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import find_task
from mirada.training.loop import train
from mirada.training.metrics import read_metrics
from mirada.training.runs import load_run
from mirada.training.stopping import Listener


def test_metrics_are_lines_of_json_and_the_last_is_the_final_examination(task):
    run = train(task, epochs=3)
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert lines == run.metrics
    assert [line["step"] for line in lines if line["kind"] == "validation"] == [4, 8, 12]
    assert lines[-1]["kind"] == "validation"
    assert lines[-1].keys() == {"step", "epoch", "kind", "loss", "tokens", "sequences", "seconds"}
    assert (run.score.loss, run.score.tokens) == (lines[-1]["loss"], lines[-1]["tokens"])
    assert [line["epoch"] for line in lines if line["kind"] == "validation"] == [1, 2, 3]
    assert 0 <= run.score.sequences <= run.score.tokens <= 1


def test_the_loss_of_a_line_is_the_mean_since_the_one_before(task):
    losses = {}

    class Keeps(Listener):
        def on_step(self, step, loss):
            losses[step] = loss.item()

    run = train(task, steps=23, checkpoint_every=5, epochs=9, batch_size=3)
    train(task, steps=23, epochs=9, batch_size=3, listener=Keeps())
    done = 0
    for line in run.metrics:
        if line["kind"] == "training":
            since = [losses[step] for step in range(done + 1, line["step"] + 1)]
            assert line["loss"] == pytest.approx(sum(since) / len(since))
            done = line["step"]
    assert done == 23


def test_a_line_cut_short_is_written_again(task):
    run = train(task, epochs=2, checkpoint_every=3)
    straight = everything(train(task, epochs=3, checkpoint_every=3))
    path = run.folder / "metrics.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"step": 9, "kind": "trai')
    assert len(read_metrics(path)) == len(run.metrics)
    again = train(task, resume=run.folder, epochs=3)
    assert everything(again)[0] == straight[0]
    assert path.read_bytes().startswith(whole)
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_the_listener_is_told_in_order(task):
    told = []

    class Writes(Listener):
        def on_start(self, run, steps):
            told.append(("start", run.step, steps))

        def on_step(self, step, loss):
            assert loss.shape == ()
            assert not loss.requires_grad
            told.append(("step", step))

        def on_line(self, line):
            told.append(("line", line["step"], line["kind"]))

        def on_end(self, run):
            told.append(("end", run.step, run.model.training))

    train(task, listener=Writes())
    assert told == [
        ("start", 0, 4),
        *[("step", step) for step in (1, 2, 3, 4)],
        ("line", 4, "training"),
        ("line", 4, "validation"),
        ("end", 4, False),
    ]


def test_a_run_is_read_back_as_it_was(task):
    run = train(task)
    again = load_run(run.folder, task)
    assert everything(again) == everything(run)
    assert (again.options, again.step, again.steps, again.score) == (
        run.options,
        run.step,
        run.steps,
        run.score,
    )
    assert again.answer("abcdeab").text == run.answer("abcdeab").text
    state = torch.get_rng_state()
    load_run(run.folder, task)
    assert torch.equal(torch.get_rng_state(), state)


def test_maps_are_what_watching_shows(task):
    run = train(task, steps=7, snapshots_every=3)
    assert run.snapshots == [0, 3, 6, 7]
    assert run.maps["self"].shape == (4, 1, 2, 7, 7)
    _, validation = task.data(0)
    mean = torch.zeros(2, 7, 7)
    for i in range(13):
        question, _ = task.show(validation, i)
        mean += run.gaze(question)[0].weights()[0] / 13
    torch.testing.assert_close(run.maps["self"][-1, 0], mean)
    assert not torch.allclose(run.maps["self"][0], run.maps["self"][-1])


def test_maps_tell_what_is_masked_from_what_is_small(task):
    ahead = torch.ones(7, 7, dtype=torch.bool).triu(1)
    hidden = train(task, steps=2, causal=True).maps["self"].isnan()
    assert torch.equal(hidden, ahead.expand_as(hidden))


def test_the_maps_of_an_encoder_decoder_are_three():
    task = find_task("reverse-seq2seq")
    task.train_size, task.validation_size = 211, 17
    run = train(task, steps=2, blocks=3, d_model=8, heads=2)
    shapes = {name: tuple(maps.shape) for name, maps in run.maps.items()}
    assert shapes == {
        "encoder": (3, 3, 2, 8, 8),
        "decoder": (3, 3, 2, 9, 9),
        "cross": (3, 3, 2, 9, 8),
    }
    answer = run.answer("49303973")
    gaze = run.gaze(answer)
    assert list(gaze["encoder.blocks.0"].tokens) == list("49303973")
    assert list(gaze["decoder.blocks.0", "cross"].tokens) == list("49303973")
    assert list(gaze["decoder.blocks.0", "self"].tokens) == ["▸", *answer.text][: len(answer.tokens[1])]


def test_damaged_maps_are_begun_anew_with_a_sentence(task):
    run = stopped(task, 2, epochs=3)
    (run.folder / "maps.safetensors").write_bytes(b"\x00" * 11)
    with pytest.warns(TrainingWarning, match="are begun anew"):
        again = train(task, resume=run.folder)
    assert again.snapshots == list(range(3, 13))


class Diverging(Tiny):
    """Whose loss is no number from a step on."""

    def __init__(self, step, value):
        self.step, self.value, self.batches = step, value, 0

    def loss(self, logits, targets):
        self.batches += 1
        worse = self.value if self.batches == self.step else 1.0
        return super().loss(logits, targets) * worse


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(("step", "saved"), [(1, 0), (6, 5), (5, 4)])
def test_a_loss_that_is_no_number_stops_at_its_step(step, saved, value):
    task = Diverging(step, value)
    said = rf"number at step {step}\. .* weights of step {saved} are saved.*\(0\.001 instead of 0\.01\)"
    with pytest.raises(TrainingError, match=said):
        train(task, out="run", epochs=3, checkpoint_every=1)
    run = load_run("run", task)
    assert run.step == saved
    assert all(x.isfinite().all() for x in run.model.parameters())


def test_coarse_numbers_are_blamed_only_where_they_are_used(task):
    for precision in ("float32", "bfloat16"):
        with pytest.raises(TrainingError) as caught:
            train(Diverging(1, math.nan), precision=precision, lr=1e29)
        assert ("float32" in str(caught.value)) == (precision == "bfloat16")
        assert "(1e+28 instead of 1e+29)" in str(caught.value)


def test_a_disk_that_is_full_from_the_start(task, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mirada.training.record.replace_bytes", full)
    with pytest.raises(TrainingError, match=r'"run" cannot be written \(No space.*\)\. Make room'):
        train(task, out="run")
    assert not Path("run").exists()


def test_weights_that_are_no_numbers_are_not_saved(task):
    """The loss of a step is known before its gradient spoils the weights."""

    class Spoilt(Tiny):
        def loss(self, logits, targets):
            logits.register_hook(lambda gradient: gradient * math.nan)
            return super().loss(logits, targets)

    with pytest.raises(TrainingError, match="no longer a number at step 1"):
        train(Spoilt(), out="run", checkpoint_every=1)
    assert load_run("run", task).step == 0


@pytest.mark.parametrize("given", [(0, 0, 3), (5, 4), (5, 5, 4)])
def test_data_that_do_not_fit_are_refused(given):
    class Odd(Tiny):
        def data(self, seed):
            train, validation = super().data(seed)
            inputs = tuple(train.inputs[0][:size] for size in given[:-1])
            return type(train)(inputs, train.targets[: given[-1]]), validation

    with pytest.raises(TrainingError, match="there must be as many of each"):
        train(Odd())


@pytest.mark.parametrize("options", [{"precision": "bfloat16"}, {"positions": "rotary", "d_model": 8}])
def test_other_numbers_and_positions(options):
    task = find_task("reverse")
    task.train_size, task.validation_size = 301, 29
    run = train(task, steps=3, d_model=8, **{k: v for k, v in options.items() if k != "d_model"})
    assert all(x.dtype == torch.float32 for x in run.model.parameters())
    assert math.isfinite(run.score.loss)
