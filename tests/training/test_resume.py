"""5 + 5 steps are 10, bit for bit: nanoGPT#467, transformers#11582."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest
import torch
from tiny import StopAt, Tiny, everything, stopped

from mirada.training.loop import train
from mirada.training.runs import load_run
from mirada.training.stopping import Listener

# Three epochs of four steps; warm-up and cosine, so that the schedule moves too. The model has dropout.
OPTIONS = {"epochs": 3, "schedule": "cosine", "warmup": 3}


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """All of a run that nothing stopped."""
    torch.set_num_threads(1)
    return everything(train(Tiny(), out=tmp_path_factory.mktemp("straight") / "run", **OPTIONS))


def undone(everything, step):
    """Without the line that stopping at a step added, and with the mean over what was two lines."""
    files, lines, *rest = everything
    return files, [line for line in lines if line["kind"] == "validation"], *rest


@pytest.mark.parametrize("step", range(1, 13))  # 4, 8 and 12 end an epoch
def test_stopped_anywhere_and_gone_on_is_never_stopped(task, straight, step):
    run = stopped(task, step, **OPTIONS)
    assert (run.step, run.finished) == (step, step == 12)
    again = train(task, resume=run.folder)
    assert again.finished
    assert undone(everything(again), step) == undone(straight, step)
    assert [line["step"] for line in again.metrics] == sorted(line["step"] for line in again.metrics)


def test_stopped_at_every_step(task, straight):
    run = stopped(task, 1, **OPTIONS)
    for step in range(2, 13):
        run = train(task, resume=run.folder, listener=StopAt(step))
    assert undone(everything(run), 0) == undone(straight, 0)


def test_five_and_five_are_ten(task):
    ten = train(task, steps=10)
    five = train(task, steps=5)
    assert five.finished
    again = train(task, resume=five.folder, steps=10)
    assert everything(again)[0] == everything(ten)[0]
    assert everything(again)[4] == everything(ten)[4]
    done = train(task, resume=five.folder)  # there is nothing left to do
    assert everything(done)[0] == everything(ten)[0]


def test_maps_and_checkpoints_on_the_way_change_nothing(task):
    plain = everything(train(task, **OPTIONS, snapshots_every=0, checkpoint_every=99))
    seen = train(task, **OPTIONS, snapshots_every=1, checkpoint_every=1, validate_every=1)
    assert everything(seen)[0] == plain[0]
    assert seen.snapshots == list(range(13))
    run = stopped(task, 7, **OPTIONS, snapshots_every=2)
    again = train(task, resume=run.folder)
    assert again.snapshots == [0, 2, 4, 6, 8, 10, 12]
    assert everything(again)[0] == plain[0]
    assert all(torch.equal(again.maps["self"], seen.maps["self"][::2]) for _ in range(1))


def test_dropout_is_at_work_so_that_its_random_numbers_matter(task):
    class Sure(Tiny):
        dropout = 0.0

    assert everything(train(task))[4] != everything(train(Sure()))[4]


# Each run in a fork of one program: starting PyTorch takes longer than all of them.
KILLED = """
import os, sys, time
import torch._dynamo  # Adam would, in each
from tiny import Tiny
from mirada.training.loop import train
from mirada.training.stopping import Listener
class Slow(Listener):
    def on_step(self, step, loss):
        print(out, os.getpid(), step, flush=True)
        time.sleep(0.05)
for out in sys.argv[1:]:
    if not os.fork():
        train(Tiny(), out=out, epochs=3, schedule="cosine", warmup=3, checkpoint_every=1, listener=Slow())
        os._exit(0)
    os.wait()
"""


def test_killed_with_no_warning_and_gone_on(task, straight, tmp_path, environment):
    runs = {"early": 3, "late": 6}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, *runs],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    for run, step in runs.items():
        number = next(line.split()[1] for line in process.stdout if line.split()[::2] == [run, str(step)])
        time.sleep(0.01 * step)  # somewhere in the work, in the middle of writing too
        os.kill(int(number), signal.SIGKILL)
    assert process.wait() == 0
    process.stdout.close()
    for run in runs:
        assert load_run(run, task).step < 12
        files, lines, snapshots, maps, weights, name = everything(train(task, resume=run))
        assert (files, snapshots, maps, weights, name) == (straight[0], *straight[2:])
        assert undone((files, lines), 0)[1] == undone(straight, 0)[1]
        steps = [line["step"] for line in lines if line["kind"] == "training"]
        assert steps == list(range(1, 13))  # each once


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_ends(task, straight, number):
    class Sends(Listener):
        def on_step(self, step, loss):
            if step == 5:
                os.kill(os.getpid(), number)

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    run = train(task, **OPTIONS, listener=Sends())
    assert (run.step, run.signal, run.finished) == (5, number, False)
    assert {each: signal.getsignal(each) for each in before} == before
    assert load_run(run.folder, task).step == 5
    assert undone(everything(train(task, resume=run.folder)), 5) == undone(straight, 5)


def test_a_second_ctrl_c_ends_at_once(task):
    class Impatient(Listener):
        def on_step(self, step, loss):
            if step == 3:
                # To this very thread: sent to the process, both may reach another one, and count as one.
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets its background ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            train(task, **OPTIONS, listener=Impatient(), out="run")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert load_run("run", task).step == 0  # nothing after the first checkpoint, which is whole


def test_in_another_thread_no_handler_is_touched(task):
    before, during, runs = signal.getsignal(signal.SIGINT), [], []

    class Looks(Listener):
        def on_step(self, step, loss):
            during.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=lambda: runs.append(train(task, listener=Looks())))
    thread.start()
    thread.join()
    assert runs[0].finished
    assert set(during) == {before}


def test_the_program_keeps_its_random_numbers_and_threads(task):
    torch.set_num_threads(2)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(task)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == 2


def test_the_seed_decides_and_nothing_else(task):
    torch.manual_seed(1)
    first = everything(train(task))
    torch.manual_seed(2)
    assert everything(train(task)) == first
    assert everything(train(task, seed=1))[4] != first[4]


def test_a_damaged_checkpoint_costs_its_steps_and_nothing_else(task, straight):
    run = stopped(task, 7, **OPTIONS, checkpoint_every=3)
    (run.folder / "checkpoints" / "step-00000007" / "weights.safetensors").write_bytes(b"")
    with pytest.warns(UserWarning, match="the one of step 6"):
        again = train(task, resume=run.folder)
    assert undone(everything(again), 7) == undone(straight, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_run(run.folder, task).step == 12
