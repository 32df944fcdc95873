"""Runs that the lab did not make, or not alone: followed by their files, damaged, taken away, or left behind
by a lab that was killed.
"""

import json
import os
import shutil
import sys
import threading
from contextlib import contextmanager, suppress

import pytest
from serving import IDLE, PATIENCE, Client, served

from mirada.lab.job import Job
from mirada.lab.jobs import Jobs
from mirada.lab.tasks import tasks
from mirada.training.folders import locked
from mirada.training.loop import train
from mirada.training.stopping import Listener
from training.tiny import StopAt

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks are told by POSIX alone")

TINY = {"steps": 41, "d_model": 6, "heads": 2, "seed": 3, "snapshots_every": 13}


class Gate(Listener):
    """Stands at a step until it is opened, and may then fail."""

    def __init__(self, step):
        self.step, self.open, self.there, self.fails = step, threading.Event(), threading.Event(), False

    def on_step(self, step, loss):
        if step == self.step:
            self.there.set()
            assert self.open.wait(PATIENCE)
            if self.fails:
                raise KeyboardInterrupt


@contextmanager
def other_program(folder, step, **how):
    """Trains in a folder, as far as the lab can see like a program in a terminal; it stands at a step."""
    gate = Gate(step)

    def work():
        with suppress(KeyboardInterrupt):
            train(listener=gate, **how)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert gate.there.wait(PATIENCE)
        yield gate
    finally:
        gate.open.set()
        thread.join()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mine"


def test_a_run_of_another_program_is_told_while_it_goes_on(tmp_path, folder):
    with served(tmp_path, IDLE) as lab, other_program(folder, 25, task="copy", out=folder, **TINY) as gate:
        told = lab.get("/api/runs/mine")
        assert (told["state"], told["step"], told["ours"]) == ("running", 20, False)
        viewers = [lab.events("mine"), lab.events("mine", told["event"])]
        first = [next(viewers[0]) for _ in range(told["event"])]
        assert [data["step"] for _, name, data in first if name == "line"] == [10, 20]
        gate.open.set()
        one, two = [list(viewer) for viewer in viewers]
        assert one == two  # both are told the rest as it comes, and nothing twice
        assert [data["step"] for _, name, data in one if name == "line"] == [30, 40, 41, 41]
        assert one[-1][1:] == ("end", lab.get("/api/runs")["runs"][0])
        told = lab.get("/api/runs/mine")
        assert (told["state"], told["step"]) == ("finished", 41)
        assert [each["step"] for each in told["maps"]] == [0, 13, 26, 39, 41]
        assert [data for _, name, data in first + one if name == "line"] == told["metrics"]
        assert sorted([m for _, name, m in first + one if name == "maps"], key=step_of) == told["maps"]


def step_of(told):
    return told["step"]


def test_another_program_that_dies_leaves_what_it_saved(tmp_path, folder):
    with served(tmp_path, IDLE) as lab, other_program(folder, 25, task="copy", out=folder, **TINY) as gate:
        after = lab.get("/api/runs/mine")["event"]
        stream = lab.events("mine", after)
        gate.fails = True
        gate.open.set()
        (_, name, told), end = stream
        assert (name, told["state"], told["step"]) == ("run", "paused", 0)  # the lines are to be forgotten
        assert end[1:] == ("end", told)
        told = lab.get("/api/runs/mine")
        assert (told["metrics"], [each["step"] for each in told["maps"]]) == ([], [0])


def test_a_run_of_this_lab_that_goes_on_in_a_terminal_is_followed_there(tmp_path, folder):
    train("copy", out=folder, listener=StopAt(5), **TINY)
    with served(tmp_path, IDLE) as lab:
        lab.post("/api/runs/mine/resume")
        lab.until("mine", "running")
        told = lab.post("/api/runs/mine/pause")
        assert (told["state"], told["ours"]) == ("paused", True)
        stream = lab.events("mine")
        next(stream)
        with other_program(folder, 25, resume=folder) as gate:
            told = lab.get("/api/runs/mine")
            assert (told["state"], told["step"], told["ours"]) == ("running", 15, False)
            assert list(stream)[-1][1] == "end"  # who looked on is sent away, and comes back
            for what, code in (("pause", "run_foreign"), ("resume", "run_active")):
                assert lab.ask("POST", f"/api/runs/mine/{what}")[1]["error"]["code"] == code
            gate.open.set()
            assert list(lab.events("mine"))[-1][2]["state"] == "finished"
        assert [run["state"] for run in lab.get("/api/runs")["runs"]] == ["finished"]


def test_a_run_that_went_back_to_a_checkpoint_between_two_looks_is_told_again_from_there(tmp_path):
    def looked(*steps, state="running"):
        job = Job(tmp_path, "copy", {"heads": 2, "blocks": 1}, 100)
        job.state = state
        for step, loss in steps:
            job.add_line({"step": step, "kind": "training", "loss": loss})
            job.add_maps({"step": step, "kind": "self", "maps": loss})
        job.log.add("run", job.told(None))
        return job

    job = looked((10, 1), (20, 2), (30, 3))
    known = len(job.log.happenings)
    now = looked((10, 1), (20, 5), (30, 6), (40, 7))
    job.catch_up(now)
    assert (job.lines, job.step, job.score) == (now.lines, 40, None)
    assert [maps["maps"] for maps in job.maps] == [1, 5, 6, 7]
    name, told = job.log.happenings[known][1:]
    assert (name, told["step"]) == ("run", 19)
    assert [each.name for each in job.log.happenings[known + 1 :]] == ["line"] * 3 + ["maps"] * 3
    job.catch_up(now)
    assert len(job.log.happenings) == known + 7  # nothing is new
    job.catch_up(looked((10, 1), state="paused"))
    assert (job.step, len(job.lines), job.state) == (10, 1, "paused")


def test_a_run_that_is_taken_away_is_gone(tmp_path, folder):
    train("copy", out=folder, listener=StopAt(5), **TINY)
    with served(tmp_path, IDLE) as lab:
        lab.post("/api/runs/mine/resume")
        lab.post("/api/runs/mine/pause")
        shutil.copytree(folder, tmp_path / "other")
        with locked(tmp_path / "other"):
            stream = lab.events("other")
            next(stream)
            for name in ("mine", "other"):
                shutil.rmtree(tmp_path / name)
            *_, (_, name, told) = stream
        assert (name, told["state"], told["error"]) == ("end", "failed", "There is no run of that name.")
        assert lab.get("/api/runs") == {"runs": []}
        for name in ("mine", "other"):
            assert lab.ask("GET", f"/api/runs/{name}")[0] == 404


def test_a_cancelled_run_is_cancelled_also_after_the_lab_was_closed(tmp_path, folder):
    def state():
        with served(tmp_path, IDLE) as lab:
            return lab.get("/api/runs/mine")["state"]

    train("copy", out=folder, listener=StopAt(5), **TINY)
    begun = (folder / "run.json").stat().st_mtime_ns
    with served(tmp_path, IDLE) as lab:
        lab.post("/api/runs/mine/resume")
        assert lab.post("/api/runs/mine/cancel")["state"] == "cancelled"
    assert state() == "cancelled"
    assert (folder / "run.json").stat().st_mtime_ns == begun  # it stays at its place in the list
    with served(tmp_path, IDLE) as lab:
        lab.post("/api/runs/mine/resume")
        lab.post("/api/runs/mine/pause")
    assert state() == "paused"
    with served(tmp_path, IDLE) as lab:  # one that rests since long ago can be cancelled too
        assert lab.post("/api/runs/mine/cancel")["state"] == "cancelled"
        assert lab.ask("POST", "/api/runs/mine/cancel")[1]["error"]["code"] == "run_idle"
    assert state() == "cancelled"
    train(resume=folder, listener=StopAt(7))
    assert state() == "paused"


def test_who_cancels_has_the_last_word(tmp_path):
    slow = (*IDLE[:2], IDLE[2].replace("sys.stdin.read()", "sys.stdin.read()\nimport time; time.sleep(0.5)"))
    with served(tmp_path, slow) as lab:
        run = lab.start("copy")["id"]
        lab.until(run, lambda name, data: name == "line")
        job = lab.jobs.job(run)
        cancel = threading.Thread(target=lab.jobs.stop, args=(run, "cancelled"))
        cancel.start()
        while job.wanted is None:
            pass
        assert lab.post(f"/api/runs/{run}/pause")["state"] == "cancelled"
        cancel.join()


DAMAGED = {
    "cut short": '{"task"',
    "empty": "",
    "without end": "[" * 100_000,
    "a list": "[]",
    "without a task": '{"options": {}, "steps": 7}',
    "with a task that is none": '{"task": {"name": 7}, "options": {}, "steps": 7}',
    "with heads that are none": '{"task": {"name": "copy"}, "options": {"heads": "x"}, "steps": 7}',
    "with steps that are none": '{"task": {"name": "copy"}, "options": {}, "steps": "7"}',
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_run_whose_file_is_damaged_is_listed_and_says_so(tmp_path, folder, what):
    folder.mkdir()
    (folder / "run.json").write_text(DAMAGED[what])
    with served(tmp_path, IDLE) as lab:
        for language, sentence in (("en", "cannot be read"), ("es", "no se puede leer")):
            client = Client(lab.port, language=language)
            (run,) = client.get("/api/runs")["runs"]
            assert (run["id"], run["state"]) == ("mine", "failed")
            assert sentence in run["error"]
            assert f"{folder}/run.json" in run["error"]
            assert client.get("/api/runs/mine")["error"] == run["error"]
        status, told = lab.ask("POST", "/api/runs/mine/answer", {"text": "1"})
        assert (status, told["error"]["code"]) == (422, "run_damaged")
        status, told = lab.ask("POST", "/api/runs/mine/resume")
        assert (status, told["error"]["code"]) == (409, "run_damaged")


def test_a_run_that_may_not_be_read_says_so(folder, monkeypatch):
    folder.mkdir()
    (folder / "run.json").write_text("{}")

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("mirada.lab.job.read_told", refuse)
    (told,) = Jobs(folder.parent, IDLE).all()
    assert told["error"][1]["reason"] == "Permission denied"


def test_what_else_cannot_be_read_hides_no_run(tmp_path, folder):
    train("copy", out=folder, **TINY)
    for name, spoil in {
        "a": lambda path: ((path / "metrics.jsonl").unlink(), (path / "metrics.jsonl").mkdir()),
        "b": lambda path: (path / "metrics.jsonl").write_text("[" * 100_000),
        "c": lambda path: (path / "maps.safetensors").write_bytes(b"\2" + bytes(7) + b"[]"),
    }.items():
        shutil.copytree(folder, tmp_path / name)
        spoil(tmp_path / name)
    with served(tmp_path, IDLE) as lab:
        assert {run["id"]: run["state"] for run in lab.get("/api/runs")["runs"]} == dict.fromkeys(
            ("mine", "a", "b", "c"), "finished"
        )
        assert lab.get("/api/runs/a")["metrics"] == lab.get("/api/runs/b")["metrics"] == []
        assert lab.get("/api/runs/c")["maps"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is text")
def test_a_name_that_is_no_text_is_listed_and_can_be_opened(tmp_path, folder):
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"task": {"name": "copy"}, "options": {}, "steps": 7}))
    os.rename(folder, os.fsencode(tmp_path) + b"/n\xff")
    with served(tmp_path, IDLE) as lab:
        assert [run["id"] for run in lab.get("/api/runs")["runs"]] == ["n\ufffd"]
        assert lab.get("/api/runs/n%EF%BF%BD")["state"] == "paused"


def test_of_a_lab_that_was_killed_the_waiting_runs_are_not_shown(tmp_path):
    killed = Jobs(tmp_path, IDLE)
    try:
        for _ in range(4):
            killed.start("copy", tasks()["copy"]["options"])
        assert [run["state"] for run in killed.all()].count("waiting") == 2
        with served(tmp_path, IDLE) as lab:
            assert lab.get("/api/runs") == {"runs": []}
            assert lab.ask("GET", "/api/runs/copy-3")[0] == 404
            assert lab.start("copy")["id"] == "copy-5"  # a folder may still be somebody's
    finally:
        killed.close()
    assert list(tmp_path.iterdir()) == []
