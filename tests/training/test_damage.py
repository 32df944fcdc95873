"""Files of a run that are damaged, of another kind, or not to be read: each says which, and why."""

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch
from tiny import Tiny, everything, stopped
from torch import nn

from mirada.training.checkpoints import once, read_checkpoint, write_checkpoint
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import find_task
from mirada.training.loop import train
from mirada.training.metrics import read_metrics
from mirada.training.runs import load_run
from mirada.training.snapshots import read_maps


class Tied(Tiny):
    """Its output is its input table, transposed by use: one parameter, two names."""

    def model(self, options):
        model = super().model(options)
        model.again = nn.ModuleDict(
            {"output": nn.Linear(6, 5), "embedding": model.get_submodule("embedding")}
        )
        return model


def test_tied_weights_are_saved_once_and_are_tied_again():
    straight = everything(train(Tied(), epochs=3))
    run = stopped(Tied(), 7, epochs=3)
    (newest,) = (run.folder / "checkpoints").glob("step-00000007")
    saved = safetensors.torch.load_file(newest / "weights.safetensors")
    names = {name for name in run.model.state_dict() if "embedding" in name}
    assert len(names - saved.keys()) == len(names) / 2
    again = load_run(run.folder, Tied())
    assert all(torch.equal(x, run.model.state_dict()[name]) for name, x in again.model.state_dict().items())
    finished = everything(train(Tied(), resume=run.folder))
    assert (finished[0], finished[4]) == (straight[0], straight[4])


def test_views_that_overlap_are_saved_apart(tmp_path):
    x = torch.arange(12.0)
    weights = {"a": x, "b": x, "c": x[:5], "d": x[3:], "e": x.view(3, 4).T, "f": x[:0], "g": x[:0]}
    assert once(weights)[1] == {"b": "a"}
    write_checkpoint(tmp_path, 1, weights, {}, {})
    found = read_checkpoint(tmp_path).weights
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[name], weights[name]) for name in weights)


def edited(folder, **changes):
    told = json.loads((folder / "run.json").read_text())
    for place, value in changes.items():
        part, _, name = place.rpartition("__")
        (told[part] if part else told)[name] = value
    (folder / "run.json").write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "1"}, r"run.json\" is damaged \(version\)"),
        ({"steps": None}, r"damaged \(steps\)"),
        ({"task": ["reverse"]}, r"damaged \(task\)"),
        ({"task__file": 5}, r"damaged \(task\)"),
        ({"task__name": 5}, r"damaged \(task\)"),
        ({"task__name": "letters"}, r"damaged \(task: text\)"),
        ({"options__lr": -1}, r"run.json\" is damaged \(options: lr = -1\)"),
        ({"options__heads": 5}, r"damaged \(options: d_model = 8, heads = 5\)"),
        ({"options__speed": 5}, r"damaged \(options\)"),
    ],
)
def test_a_run_that_tells_nonsense(changes, said):
    task = find_task("reverse")
    task.train_size, task.validation_size = 41, 13
    run = train(task, steps=1, d_model=8)
    edited(run.folder, **changes)
    for attempt in (load_run, lambda folder: train(resume=folder)):
        with pytest.raises(TrainingError, match=said):
            attempt(run.folder)


@pytest.mark.parametrize("text", ["{", "\xff", "", pytest.param("[" * 100_000, id="deep")])
def test_a_run_that_is_no_json_does_not_show_the_parser(text):
    Path("run.json").write_text(text, "latin-1")
    with pytest.raises(TrainingError, match=r"run.json\" is damaged \(JSON\)\.$"):
        load_run(".")


@pytest.mark.parametrize(
    "line",
    [
        *('{"step": "3", "kind": "training"}', "[3]", "3", '{"step": 3, "kind": "other"}', "{}"),
        pytest.param("[" * 100_000, id="deep"),
        '{"step": 3, "kind": "validation", "loss": 1.0, "tokens": "1", "sequences": 1, "seconds": 1}',
    ],
)
def test_a_line_that_tells_nonsense_ends_the_lines(task, line):
    run = stopped(task, 2, checkpoint_every=1)
    path = run.folder / "metrics.jsonl"
    whole = path.read_text()
    path.write_text(whole + line + "\n" + whole)
    assert read_metrics(path) == run.metrics
    assert load_run(run.folder, task).score is None
    assert train(task, resume=run.folder).metrics[: len(run.metrics)] == run.metrics


MAPS = torch.zeros(3, 1, 2, 7, 7)


@pytest.mark.parametrize(
    "tensors",
    [
        {"steps": torch.tensor(3), "self": MAPS},
        {"steps": torch.arange(3)},
        {"self": MAPS},
        {"steps": torch.arange(2), "self": MAPS},
        {"steps": torch.arange(3), "self": MAPS[0]},
        {"steps": torch.arange(3), "own": MAPS},
    ],
)
def test_maps_that_do_not_fit_are_damaged(tmp_path, tensors):
    path = tmp_path / "maps.safetensors"
    path.write_bytes(safetensors.torch.save(tensors))
    with pytest.warns(TrainingWarning, match="are damaged"):
        assert read_maps(path, 9) == ([], {})


@pytest.mark.parametrize("name", ["maps.safetensors", "metrics.jsonl", "run.json"])
def test_a_folder_in_the_place_of_a_file(task, name):
    run = stopped(task, 2)
    (run.folder / name).unlink()
    (run.folder / name).mkdir()
    for attempt in (load_run, lambda folder, task: train(task, resume=folder)):
        with pytest.raises(TrainingError, match=rf"{name}\" cannot be read \(Is a directory\)"):
            attempt(run.folder, task)


@pytest.mark.parametrize(
    "name",
    ["run.json", "metrics.jsonl", "maps.safetensors", "checkpoints", "state.json", "weights.safetensors"],
)
def test_a_file_that_may_not_be_read_is_not_damaged(task, monkeypatch, name):
    run = stopped(task, 2)
    before = {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")}
    with monkeypatch.context() as patch:
        for method in ("read_bytes", "iterdir"):
            real = getattr(Path, method)

            def denied(path, real=real):
                if path.name == name:
                    raise PermissionError(13, "Permission denied", str(path))
                return real(path)

            patch.setattr(Path, method, denied)
        for attempt in (load_run, lambda folder, task: train(task, resume=folder)):
            with pytest.raises(TrainingError, match=r"cannot be read \(Permission denied\)"):
                attempt(run.folder, task)
    written = {run.folder, run.folder / "run.json"}
    assert [path for path in before if path.stat().st_mtime_ns != before[path] and path not in written] == []
    assert load_run(run.folder, task).step == 2
