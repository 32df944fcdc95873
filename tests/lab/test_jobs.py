"""Runs that the lab trains, in real processes: to their end, stopped, killed, on a full disk."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from serving import IDLE, PATIENCE, Client, served
from test_server import Lab, ask, token_in

from mirada.lab.files import rounded
from mirada.lab.jobs import LOOKS
from mirada.training.loop import train
from mirada.training.metrics import read_metrics
from mirada.training.runs import load_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are told apart by POSIX alone")

LONG = {"steps": 100_000, "d_model": 2, "heads": 1}  # never comes to its end in a test
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A lab in which `reverse` was learnt, looked at by four: what each was told."""
    with served(tmp_path_factory.mktemp("runs")) as lab:
        run = lab.start("reverse")["id"]
        # One looks on and reads nothing, from a window that holds next to nothing.
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        deaf.connect(("127.0.0.1", lab.port))
        head = f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n"
        deaf.sendall(f"{head}X-Mirada-Token: {lab.token}\r\n\r\n".encode())
        seen = [[], []]

        def look(events):
            events.extend(lab.events(run))

        viewers = [threading.Thread(target=look, args=(events,)) for events in seen]
        for viewer in viewers:
            viewer.start()
        for viewer in viewers:
            viewer.join()
        yield lab, run, *seen
        deaf.close()


def test_a_whole_run_to_one_hundred_percent(whole):
    lab, run, seen, _ = whole
    told = lab.get(f"/api/runs/{run}")
    assert (told["state"], told["step"], told["steps"]) == ("finished", 313, 313)
    assert told["score"]["tokens"] == told["score"]["sequences"] == 1
    assert (told["heads"], told["blocks"], told["parameters"]) == (2, 1, 13_674)
    last = told["maps"][-1]
    assert (last["step"], last["kind"]) == (313, "self")
    # The anti-diagonal: each looks at its place from the end, in one head or the other.
    best = torch.tensor(last["maps"])[0].amax(0).argmax(1)
    assert best.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    assert [state_of(each) for each in seen if each[1] == "run"] == [
        "waiting",
        "running",
        "running",
        "finished",
    ]
    assert seen[-1][1] == "end"
    assert seen[-1][2]["state"] == "finished"


def state_of(event):
    return event[2]["state"]


def test_it_is_the_run_that_the_library_itself_makes(whole, tmp_path):
    lab, run, *_ = whole
    told, own = lab.get(f"/api/runs/{run}"), train("reverse", out=tmp_path / "own", **looks(313))
    assert without_seconds(told["metrics"]) == without_seconds(own.metrics)
    assert [maps["step"] for maps in told["maps"]] == own.snapshots
    assert torch.allclose(torch.tensor(told["maps"][-1]["maps"]), own.maps["self"][-1], atol=6e-4)
    assert same(load_run(lab.jobs.runs / run), own)


def looks(steps):
    """A run of the lab is examined and seen more often than others, since somebody looks on."""
    return {"validate_every": steps // LOOKS, "snapshots_every": steps // LOOKS}


def without_seconds(lines):
    return [{name: x for name, x in line.items() if name != "seconds"} for line in lines]


def same(one, other):
    weights = one.model.state_dict(), other.model.state_dict()
    return all(torch.equal(x, weights[1][name]) for name, x in weights[0].items())


def test_each_viewer_is_told_everything_while_one_that_reads_nothing_looks_on(whole):
    lab, run, one, two = whole
    assert one == two
    assert [number for number, *_ in one] == [*range(1, len(one)), None]
    told = lab.get(f"/api/runs/{run}")
    assert [data for _, name, data in one if name == "line"] == told["metrics"]
    assert [data for _, name, data in one if name == "maps"] == told["maps"]
    assert told["event"] == len(one) - 1


@pytest.mark.parametrize("after", [0, 1, 17, -2, -1])
def test_who_comes_back_is_told_the_rest_and_nothing_twice(whole, after):
    lab, run, seen, _ = whole
    after %= len(seen)
    assert list(lab.events(run, after)) == seen[after:]


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "9" * 30, "٣", "10000"])
def test_a_number_that_never_was_begins_at_the_beginning(whole, after):
    lab, run, seen, _ = whole
    header = after if after.isascii() else "%D9%A3"
    assert list(lab.events(run, header)) == seen


def test_a_run_answers_and_says_whom_it_looked_at(whole):
    lab, run, *_ = whole
    told = lab.post(f"/api/runs/{run}/answer", {"text": "49303973"})
    assert (told["question"], told["answer"], told["right"]) == ("49303973", "37930394", "37930394")
    assert told["tokens"] == {"rows": list("49303973"), "columns": list("49303973")}
    assert [(each["block"], each["head"]) for each in told["scenes"]] == [(0, 0), (0, 1)]
    status, weights = lab.ask("POST", "/api/scene/weights", told["scenes"][0]["scene"])
    assert status == 200
    assert len(weights["weights"]) == 8


@pytest.mark.parametrize(("language", "word"), [("es", "símbolo"), ("en", "symbol")])
def test_a_question_that_cannot_be_read_is_a_sentence(whole, language, word):
    lab, run, *_ = whole
    status, told = Client(lab.port, language=language).ask(
        "POST", f"/api/runs/{run}/answer", {"text": "4930397x"}
    )
    assert status == 422
    assert word in told["error"]["message"]


def test_paused_and_resumed_it_is_the_run_that_was_never_stopped(tmp_path):
    options = {"steps": 701, "d_model": 6, "heads": 2, "seed": 7}
    with served(tmp_path) as lab:
        run = lab.start("copy", **options)["id"]
        number, _ = lab.until(run, lambda name, data: name == "line" and data["step"] >= 50)
        told = lab.post(f"/api/runs/{run}/pause")
        assert told["state"] == "paused"
        assert 50 <= told["step"] < 701
        assert lab.post(f"/api/runs/{run}/resume")["state"] == "running"
        lab.until(run, "finished", number)
        told = lab.get(f"/api/runs/{run}")
    own = train("copy", out=tmp_path / "own", **options, **looks(701))
    # A stop ends a line of training early; what was examined and seen is the same.
    assert examined(told["metrics"]) == examined(own.metrics)
    assert told["maps"] == [
        {"step": step, "kind": "self", "maps": rounded(maps.tolist())}
        for step, maps in zip(own.snapshots, own.maps["self"], strict=True)
    ]
    assert same(load_run(tmp_path / run), own)


def examined(lines):
    return [line for line in without_seconds(lines) if line["kind"] == "validation"]


def test_killed_it_says_so_and_goes_on_from_its_checkpoint_until_it_is_cancelled(tmp_path):
    with served(tmp_path) as lab:
        run = lab.start("shift", **LONG)["id"]
        number, _ = lab.until(run, lambda name, data: name == "line" and data["step"] >= 1010)
        lab.jobs.job(run).process.kill()
        number, told = lab.until(run, "failed", number)
        assert told["error"].startswith("The process of this run ended before its time (code -9)")
        saved = told["error"].partition("from step ")[2].partition(" ")[0]
        assert int(saved) >= 1000
        spanish = Client(lab.port, language="es").get(f"/api/runs/{run}")
        assert f"desde el paso {saved}" in spanish["error"]

        lab.post(f"/api/runs/{run}/resume")
        _, told = lab.until(
            run,
            lambda name, data: name == "run" and data["parameters"] and data["state"] == "running",
            number,
        )
        assert (told["step"], told["error"]) == (int(saved), None)
        assert [line["step"] for line in lab.get(f"/api/runs/{run}")["metrics"]] == sorted(
            line["step"] for line in lab.get(f"/api/runs/{run}")["metrics"]
        )
        assert lab.post(f"/api/runs/{run}/cancel")["state"] == "cancelled"
        assert load_run(tmp_path / run).step >= int(saved)


def test_a_full_disk_is_said_and_the_lab_lives_on(tmp_path):
    worker = (sys.executable, "-c", f"{LIMITED}\nfrom mirada.lab.worker import main\nmain()")
    with served(tmp_path, worker) as lab:
        run = lab.start("reverse")["id"]
        _, told = lab.until(run, "failed")
        assert "cannot be written (File too large)" in told["error"]
        assert "No se puede escribir" in Client(lab.port, language="es").get(f"/api/runs/{run}")["error"]
        lab.jobs.worker = IDLE  # room was made
        assert lab.post(f"/api/runs/{run}/resume")["state"] == "running"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_closing_the_lab_ends_its_runs_and_keeps_what_they_learnt(tmp_path, how):
    with Lab("--port", "0", MIRADA_RUNS=str(tmp_path)) as process:
        _, host, port = process.ready()
        lab = Client(port, token_in(ask(host, port)[1]))
        run = lab.start("reverse", **LONG)["id"]
        stream = lab.events(run)
        next(each for each in stream if each[1] == "line")
        workers = children(process.process.pid)
        try:
            with pytest.raises(TimeoutError):
                locked(tmp_path / run, patience=0)
            code, out, err = process.end(how)
            assert (code, out, err) == ((0, "", "") if how != signal.SIGKILL else (-9, "", ""))
            # A lab that is told to end waits for its workers; one that is killed leaves them to end alone.
            locked(tmp_path / run, patience=PATIENCE if how == signal.SIGKILL else 0)
        finally:
            stream.close()
            for worker in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
    # Saved where it was, not only where a checkpoint was due.
    assert load_run(tmp_path / run).step == read_metrics(tmp_path / run / "metrics.jsonl")[-1]["step"] >= 10


def locked(folder, patience):
    """Hold for a moment the lock of a run's folder, which its worker has until it is gone."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    until = time.monotonic() + patience
    try:
        while True:
            try:
                return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise TimeoutError from None
            time.sleep(0.02)
    finally:
        os.close(handle)


def children(pid):
    """Of a process, as Linux tells them; elsewhere none are found."""
    listed = Path("/proc").glob("[0-9]*/stat") if Path("/proc/self/stat").exists() else ()
    found = []
    for stat in listed:
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def test_two_run_and_a_third_waits_until_one_ends(tmp_path):
    with served(tmp_path, IDLE) as lab:
        one, two, three, four = (lab.start("reverse") for _ in range(4))
        assert [each["id"] for each in (one, two, three, four)] == [
            "reverse",
            "reverse-2",
            "reverse-3",
            "reverse-4",
        ]
        assert [(each["state"], each["place"]) for each in (one, two, three, four)] == [
            ("running", None),
            ("running", None),
            ("waiting", 1),
            ("waiting", 2),
        ]
        assert lab.ask("POST", "/api/runs/reverse-3/resume")[0] == 409
        lab.post("/api/runs/reverse/cancel")
        lab.until("reverse-3", "running")
        _, told = lab.until("reverse-4", lambda name, data: name == "run" and data["place"] == 1)
        assert told["state"] == "waiting"
        assert lab.post("/api/runs/reverse-4/cancel")["state"] == "cancelled"
        assert {run["id"]: run["state"] for run in lab.get("/api/runs")["runs"]} == {
            "reverse": "cancelled",
            "reverse-2": "running",
            "reverse-3": "running",
            "reverse-4": "cancelled",
        }
    assert list(tmp_path.iterdir()) == []  # nothing was learnt, nothing is left


def test_the_line_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("mirada.lab.jobs.MOST_WAITING", 1)
    with served(tmp_path, IDLE) as lab:
        for _ in range(3):
            lab.start("reverse")
        status, told = lab.ask("POST", "/api/runs", {"task": "reverse"})
        assert (status, told["error"]["code"]) == (429, "line_full")


def test_a_worker_that_cannot_be_started_is_said(tmp_path):
    with served(tmp_path, (str(tmp_path / "nowhere"),)) as lab:
        told = lab.start("reverse")
        assert told["state"] == "failed"
        assert "could not be started (No such file or directory)" in told["error"]
        lab.jobs.worker = IDLE
        assert lab.post("/api/runs/reverse/resume")["state"] == "running"


def test_a_worker_that_dies_before_it_begins_leaves_a_run_that_can_begin_anew(tmp_path):
    with served(tmp_path, (sys.executable, "-c", "print('{\"event\": \"li', end='')")) as lab:
        lab.start("reverse")
        _, told = lab.until("reverse", "failed")
        assert "before it saved anything" in told["error"]
        lab.jobs.worker = IDLE
        assert lab.post("/api/runs/reverse/resume")["state"] == "running"
