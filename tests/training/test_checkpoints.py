"""A checkpoint is there whole or not at all, and one that is damaged is noticed."""

import errno
import json
import shutil
import subprocess
import sys

import pytest
import torch
from tiny import Tiny, everything

from mirada.training import checkpoints, files
from mirada.training.checkpoints import read_checkpoint, read_one, write_checkpoint
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.loop import train
from mirada.training.metrics import Metrics
from mirada.training.runs import load_run

TENSORS = {"a": torch.arange(7.0), "b.c": torch.ones(3, 5, dtype=torch.float64)}
STATE = {"random": torch.arange(11, dtype=torch.uint8), "step": torch.tensor(3.0)}


def written(folder, *steps):
    folder.mkdir(exist_ok=True)
    return [write_checkpoint(folder, step, TENSORS, STATE, {"task": "x"}) for step in steps]


def test_what_is_written_is_read_back(tmp_path):
    written(tmp_path, 3)
    checkpoint = read_checkpoint(tmp_path)
    assert checkpoint.step == 3
    assert checkpoint.told["task"] == "x"
    for found, wanted in ((checkpoint.weights, TENSORS), (checkpoint.state, STATE)):
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)
        assert all(found[name].dtype == wanted[name].dtype for name in wanted)


def test_the_newest_two_are_kept_and_nothing_else(tmp_path):
    (tmp_path / ".step-00000001.0123abcd").mkdir()  # begun when the power failed
    (tmp_path / ".step-00000001.0123abcd.old").mkdir()
    written(tmp_path, 3, 5, 100_000_007)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000005", "step-100000007"]
    assert read_checkpoint(tmp_path).step == 100_000_007


@pytest.mark.parametrize("name", ["step-00000003-backup", "step-3", ".step-mine", "notes"])
def test_what_somebody_put_there_stays(tmp_path, name):
    (tmp_path / name).mkdir()
    written(tmp_path, 3, 5, 7, 11)
    assert (tmp_path / name).is_dir()


@pytest.mark.parametrize("name", ["weights.safetensors", "state.safetensors", "state.json"])
def test_a_file_cut_short_at_any_byte_is_noticed(tmp_path, name):
    (path,) = written(tmp_path, 3)
    whole = (path / name).read_bytes()
    for size in range(len(whole)):
        (path / name).write_bytes(whole[:size])
        with pytest.raises((ValueError, KeyError, TypeError)):
            read_one(path)
    (path / name).write_bytes(whole)
    assert read_one(path).step == 3


@pytest.mark.parametrize("name", ["weights.safetensors", "state.safetensors", "state.json"])
def test_a_changed_byte_anywhere_is_noticed(tmp_path, name):
    (path,) = written(tmp_path, 3)
    whole = (path / name).read_bytes()
    for place in range(len(whole)):
        (path / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            told = read_one(path)
        except (ValueError, KeyError, TypeError):
            continue
        assert name == "state.json"  # a space that became another: it says the same
        assert told.step == 3
        assert told.told["task"] == "x"


def damage_cut(path):
    weights = path / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])


def damage_missing(path):
    (path / "state.safetensors").unlink()


def damage_empty(path):
    for each in path.iterdir():
        each.write_bytes(b"")


def damage_list(path):
    (path / "state.json").write_text("[1]")


def damage_folder(path):
    shutil.rmtree(path)
    path.mkdir()


DAMAGES = [damage_cut, damage_missing, damage_empty, damage_list, damage_folder]


@pytest.mark.parametrize("damage", DAMAGES)
def test_where_the_newest_is_damaged_the_one_before_is_taken_with_a_sentence(tmp_path, damage):
    _, newest = written(tmp_path, 3, 5)
    damage(newest)
    with pytest.warns(TrainingWarning, match=r"step-00000005\" is damaged .*: the one of step 3"):
        assert read_checkpoint(tmp_path).step == 3
    write_checkpoint(tmp_path, 5, TENSORS, STATE, {})  # and the run comes by here again
    assert read_checkpoint(tmp_path).step == 5


def test_where_all_are_damaged_or_none_is_there_it_is_an_error(tmp_path):
    with pytest.raises(TrainingError, match="There is no checkpoint"):
        read_checkpoint(tmp_path / "none")
    for path in written(tmp_path, 3, 5):
        damage_missing(path)
    with pytest.raises(TrainingError, match=r"No checkpoint .* is whole; .*state.safetensors: No such file"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize("call", range(6))
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, call):
    written(tmp_path, 3)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    calls = iter(range(100))

    def full(*args):
        if next(calls) == call:
            raise OSError(errno.ENOSPC, "No space left on device")
        return {0: write_bytes, 1: sync_folder}[len(args) != 2](*args)

    write_bytes, sync_folder = files.write_bytes, files.sync_folder
    monkeypatch.setattr(checkpoints, "write_bytes", full)
    monkeypatch.setattr(checkpoints, "sync_folder", full)
    if call <= 4:
        with pytest.raises(OSError, match="No space"):
            write_checkpoint(tmp_path, 5, TENSORS, STATE, {})
    else:
        write_checkpoint(tmp_path, 5, TENSORS, STATE, {})
    monkeypatch.undo()
    assert all(path.read_bytes() == data for path, data in before.items())
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert read_checkpoint(tmp_path).step == (3 if call <= 3 else 5)


LIMITED = """
import resource, signal, sys
from tiny import Tiny, stopped
from mirada.training.errors import TrainingError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
class Wider(Tiny):
    defaults = {**Tiny.defaults, "epochs": 2, "checkpoint_every": 4}
    def __init__(self): self.batches = 0
    def run(self, *args):
        self.batches += 1
        if self.batches == 7:  # the first one is looked at before it is learnt from
            resource.setrlimit(resource.RLIMIT_FSIZE, (700, resource.RLIM_INFINITY))
        return super().run(*args)
try:
    stopped(Wider(), 99, out="run", snapshots_every=0)
except TrainingError as error:
    print(error.key, error)
"""


def test_a_real_file_system_that_takes_no_more(tmp_path, environment):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.startswith("training.unsaved"), done.stdout + done.stderr
    assert "File too large" in done.stdout
    run = load_run("run", Tiny())
    assert run.step == 4
    assert [line["step"] for line in run.metrics][-1] == 4
    again = train(Tiny(), resume="run")
    assert everything(again) == everything(train(Tiny(), epochs=2, checkpoint_every=4, snapshots_every=0))


def test_a_folder_that_vanishes_while_it_learns(task):
    class Vandal:
        def __getattr__(self, name):
            return lambda *_: None

        def on_step(self, step, loss):
            if step == 3:
                shutil.rmtree("run/checkpoints")

    with pytest.raises(TrainingError, match=r"Step 4 could not be saved in .*run/checkpoints"):
        train(task, out="run", listener=Vandal())


def test_a_new_run_wants_a_folder_of_its_own(task, tmp_path):
    (tmp_path / "file").write_text("x")
    for out, said in (
        ("no/such", 'folder "no" does not exist'),
        ("file", "not an empty folder"),
        ("file/run", 'folder "file" does not exist'),
        ("/proc/run", "cannot be written"),
    ):
        with pytest.raises(TrainingError, match=said):
            train(task, out=out)
    run = train(task, out="run")
    with pytest.raises(TrainingError, match=r"not an empty folder.*resume"):
        train(task, out="run")
    assert load_run(run.folder, task).step == 4
    assert [str(train(task).folder) for _ in range(2)] == ["runs/tiny", "runs/tiny-2"]


def test_metrics_on_a_full_disk(task, monkeypatch):
    """/dev/full is always full; only that it is cannot be waited for."""
    monkeypatch.setattr(Metrics, "sync", lambda self: None)
    real = open
    monkeypatch.setattr(
        "builtins.open",
        lambda file, mode="r", *rest, **more: real("/dev/full" if mode == "a" else file, mode, *rest, **more),
    )
    with pytest.raises(TrainingError, match=r"Step 4 could not .*No space left on device.*step 0 is whole"):
        train(task, out="run")


# Of another task, or of another model.


def swap(source, target):
    shutil.rmtree(target / "checkpoints")
    shutil.copytree(source / "checkpoints", target / "checkpoints")


def test_a_checkpoint_of_another_model_or_task_is_refused(task):
    class Other(Tiny):
        name = "other"

    run, wider, other = train(task), train(task, d_model=10), train(Other())
    swap(wider.folder, run.folder)
    with pytest.raises(TrainingError, match=r"of another model: .* has the shape \(.*\) there, and \("):
        load_run(run.folder, task)
    with pytest.raises(TrainingError, match="of another model"):
        train(task, resume=run.folder, epochs=2)
    swap(other.folder, run.folder)
    with pytest.raises(TrainingError, match='learnt "other", not "tiny"'):
        train(task, resume=run.folder, epochs=2)
    with pytest.raises(TrainingError, match='learnt "tiny", not "other"'):
        load_run(wider.folder, Other())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ("{}", "is damaged"),
        (json.dumps({"version": 1, "task": {"name": "tiny"}, "options": {"x": 1}, "steps": 3}), "is damaged"),
        (json.dumps({"version": 2, "task": {"name": "tiny"}, "options": {}, "steps": 3}), "update it"),
    ],
)
def test_a_run_that_cannot_be_read_says_why(task, text, said):
    run = train(task)
    (run.folder / "run.json").write_text(text)
    with pytest.raises(TrainingError, match=said):
        load_run(run.folder, task)
    with pytest.raises(TrainingError, match=r"run\.json is missing"):
        train(task, resume="no/such/run")


def test_a_task_of_a_program_must_be_given_again(task):
    run = train(task)
    with pytest.raises(TrainingError, match='"tiny" was defined in a program'):
        load_run(run.folder)
    assert load_run(run.folder, task).task is task
    with pytest.raises(TrainingError, match="what is to be learnt"):
        train()
