"""One process in a folder at a time; nothing left behind; nothing of somebody else's taken away."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import Tiny, everything, stopped

from mirada.training import folders
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.loop import train
from mirada.training.runs import load_run
from mirada.training.stopping import Listener

HOLDS = """
import sys, time
from tiny import Tiny
from mirada.training.loop import train
from mirada.training.stopping import Listener
class Waits(Listener):
    def on_step(self, step, loss):
        if step == 2:
            print("there", flush=True)
            time.sleep(600)
train(Tiny(), out="run", checkpoint_every=1, listener=Waits())
"""


def test_one_process_in_a_folder_at_a_time(task, tmp_path, environment):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "there\n"
        before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
        with pytest.raises(TrainingError, match='Another process is training in "run"'):
            train(task, resume="run")
        assert {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()} == before
        assert load_run("run", task).step == 1  # to look is free
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    assert train(task, resume="run").finished  # the kernel let go of it


def test_the_same_run_twice_in_one_program(task):
    class Again(Listener):
        def on_step(self, step, loss):
            with pytest.raises(TrainingError, match="Another process"):
                train(task, resume="run")

    assert train(task, out="run", listener=Again()).finished
    assert train(task, resume="run", steps=5).finished


def test_who_only_asks_whether_somebody_trains_there_stops_nobody(task, monkeypatch):
    stopped(task, 2, out="run")
    asking = os.open("run", os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    monkeypatch.setattr(folders.time, "sleep", lambda _: os.close(asking))  # an instant later it is done
    assert train(task, resume="run").finished


@pytest.mark.parametrize("error", [OSError(95, "Operation not supported"), OSError(9, "Bad file descriptor")])
def test_where_there_are_no_locks_it_learns_all_the_same(task, monkeypatch, error):
    def flock(*_):
        raise error

    monkeypatch.setattr(fcntl, "flock", flock)
    opened = len(os.listdir("/proc/self/fd"))
    assert train(task).finished
    assert len(os.listdir("/proc/self/fd")) == opened
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    assert train(task).finished


LEFT = [
    ".run.json.0123abcd",
    ".metrics.jsonl.0123abcd",
    ".maps.safetensors.0123abcd",
    "checkpoints/.step-00000002.0123abcd/weights.safetensors",
    "checkpoints/.step-00000002.0123abcd.old/weights.safetensors",
]
OWN = [".run.json.mine", "run.json.0123abcd", ".notes", "checkpoints/step-00000001-copy/weights.safetensors"]


def test_what_a_killed_process_left_is_taken_away_and_nothing_else(task):
    run = stopped(task, 2)
    for name in (*LEFT, *OWN):
        (run.folder / name).parent.mkdir(exist_ok=True)
        (run.folder / name).write_text("x")
    train(task, resume=run.folder)
    there = [name for name in (*LEFT, *OWN) if (run.folder / name).exists()]
    assert there == OWN
    assert not list(run.folder.rglob("*.0123abcd*"))[1:]


def test_a_run_that_was_killed_before_it_saved_anything_begins(task):
    straight = everything(train(task))
    train(task, out="run")
    for path in sorted(Path("run").rglob("*"), reverse=True):
        if path.name != "run.json":
            path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(TrainingError, match="There is no checkpoint"):
        load_run("run", task)
    with pytest.warns(TrainingWarning, match="had saved nothing yet: it begins at step 0"):
        assert everything(train(task, resume="run")) == straight


class Fails(Tiny):
    """In one of its methods."""

    def __init__(self, method):
        setattr(self, method, self.fail)

    def fail(self, *_):
        raise MemoryError("no room")


@pytest.mark.parametrize("method", ["data", "model", "mask", "run"])
def test_a_run_that_comes_to_nothing_leaves_no_folder(task, method):
    for _ in range(2):
        with pytest.raises(MemoryError):
            train(Fails(method))
    Path("empty").mkdir()
    with pytest.raises(MemoryError):
        train(Fails(method), out="empty")
    assert not list(Path("empty").iterdir())
    with pytest.raises(MemoryError):
        train(Fails(method), out="new")
    assert not Path("new").exists()
    assert train(task).folder == Path("runs/tiny")


def test_what_was_saved_stays(task):
    with pytest.raises(MemoryError):
        train(Fails("loss"), out="run")
    assert load_run("run", task).step == 0


@pytest.mark.parametrize(
    ("name", "folder"),
    [("a/b", "a-b"), ("..", "run"), ("/", "run"), ("ñ x", "ñ-x"), ("\0", "run"), ("x" * 999, "x" * 60)],
)
def test_any_name_of_a_task_gives_a_folder(monkeypatch, name, folder):
    monkeypatch.setattr(Tiny, "name", name)
    assert train(Tiny(), steps=1).folder == Path("runs", folder)
    assert train(Tiny(), steps=1).folder == Path("runs", f"{folder}-2")


def test_a_folder_that_somebody_else_makes_first_is_theirs(task, monkeypatch):
    Path("runs").mkdir()
    for name in ("tiny", "tiny-2"):
        Path("runs", name).mkdir()
    monkeypatch.setattr(Path, "exists", lambda *_, **__: False)  # as it was a moment ago
    assert folders.made(None, "tiny") == (Path("runs/tiny-3"), True)


def test_a_zero_byte_in_a_path_is_said(task):
    with pytest.raises(TrainingError, match="cannot be written"):
        train(task, out="a\0b")
    with pytest.raises(TrainingError, match="There is no run"):
        train(task, resume="a\0b")
