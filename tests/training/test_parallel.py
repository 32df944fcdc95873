"""Two processes come to what one comes to: with DDP and with FSDP2, on the processor, by gloo.

They are started as torchrun does it, by four variables; only the last test has torchrun itself. Every program
here is ended after a while whatever it does.

Losses are compared in float32 with a relative tolerance of 1e-4, outputs with an absolute one of 1e-3.
Weights are not: some gradients are zero but for rounding, such as those of the biases of keys, and of such a
one Adam takes no more than the sign.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from together import VARIANTS, Fails, Half, Uneven, told

from mirada.training import parallel
from mirada.training.errors import TrainingError
from mirada.training.loop import train
from mirada.training.runs import load_run
from mirada.training.task import Batch, loss

KINDS = ("ddp", "fsdp")
LONGEST = 200  # seconds, where a program takes a tenth of it


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("together")


def started(part, folder):
    """Two processes of together.py that know each other. Their exit codes, and what each said."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    here = os.path.dirname(__file__)
    known = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", os.path.join(here, "together.py"), part, str(folder)]
    logs = [folder / f"{part}-{rank}.log" for rank in (0, 1)]
    ends = time.monotonic() + LONGEST
    processes = []
    try:
        for rank, log in enumerate(logs):
            environment = os.environ | known | {"RANK": str(rank), "PYTHONPATH": here}
            with open(log, "w") as file:
                processes.append(
                    subprocess.Popen(command, env=environment, stdout=file, stderr=file, cwd=folder)
                )
        codes = [process.wait(max(1, ends - time.monotonic())) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return codes, [log.read_text() for log in logs]


def numbered(losses):
    return {int(step): value for step, value in losses.items()}


@pytest.fixture(scope="module")
def one(folder):
    """What one process comes to."""
    torch.set_num_threads(1)
    for kind in KINDS:
        (folder / kind).mkdir()
        told(Uneven(), out=folder / kind / "one", until=5)
    found = {name: told(Uneven(), out=folder / name, **given) for name, given in VARIANTS.items()}
    return found | {"half": told(Half(), out=folder / "half")}


@pytest.fixture(scope="module")
def two(folder, one):
    """What each of two processes comes to."""
    codes, logs = started("equal", folder)
    assert codes == [0, 0], logs
    return [json.loads((folder / f"equal-{rank}.json").read_text()) for rank in (0, 1)]


def compare(found, wanted, steps=None, rounding=1.0):
    losses, whole = numbered(found["losses"]), wanted["losses"]
    assert list(losses) == (list(whole) if steps is None else steps)
    for step, value in losses.items():
        assert value == pytest.approx(whole[step], rel=1e-4 * rounding, abs=1e-6), step
    assert found["step"] == wanted["step"]
    assert found["kind"] == "Encoder", "a model that can be used by itself"
    logits, other = torch.tensor(found["logits"]), torch.tensor(wanted["logits"])
    assert (logits - other).abs().max() < 1e-3 * rounding
    ours, theirs = ([x for x in each["lines"] if x["kind"] == "validation"] for each in (found, wanted))
    for line, whole in zip(ours, theirs[-len(ours) :], strict=True):
        assert (line["step"], line["epoch"]) == (whole["step"], whole["epoch"])
        assert line["loss"] == pytest.approx(whole["loss"], rel=1e-4 * rounding)
        # of 13 samples of 7, and no answer is on the edge but where numbers are rough
        assert line["tokens"] == pytest.approx(whole["tokens"], abs=1e-6 if rounding == 1 else 0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*VARIANTS, "half"])
def test_as_one_process_with_the_whole_batch(one, two, kind, name):
    """Batches of 11 and of 1, many targets ignored: means of means would be others (transformers#34242)."""
    first, second = (each[f"{kind} {name}"] for each in two)
    compare(first, one[name], rounding=100 if name == "bfloat16" else 1)
    if name == "plain":  # the same maps, of the same samples
        maps, whole = (torch.tensor(each["maps"]["self"]) for each in (first, one[name]))
        assert maps.shape == whole.shape
        assert (maps - whole).abs().max() < 1e-3
    assert first["ended"]
    assert not second["ended"]
    assert second["losses"] == {}, "only the first process is told"
    assert second["logits"] == first["logits"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_on_the_disk_is_what_one_process_writes(folder, one, two, kind):
    def files(path):
        return sorted(str(each.relative_to(path)) for each in path.rglob("*"))

    assert files(folder / kind / "plain") == files(folder / "plain")
    run, whole = (load_run(each / "plain", Uneven()) for each in (folder / kind, folder))
    assert [line["step"] for line in run.metrics] == [line["step"] for line in whole.metrics]
    assert run.snapshots == whole.snapshots
    for name, x in whole.model.state_dict().items():
        assert run.model.state_dict()[name].shape == x.shape
    mine, theirs = (
        parallel_state(each / "plain" / "checkpoints" / "step-00000012") for each in (folder / kind, folder)
    )
    assert mine == theirs


def parallel_state(path):
    """Names, shapes and numbers as they are; of Adam's step counts, the values."""
    import safetensors.torch

    state = safetensors.torch.load_file(path / "state.safetensors")
    return {
        name: x.item() if name.endswith(".step") else (x.dtype, tuple(x.shape)) for name, x in state.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_saved_by_two_and_gone_on_with_by_one(folder, one, two, kind):
    first = two[0][f"{kind} first"]
    assert (first["step"], list(numbered(first["losses"]))) == (5, [1, 2, 3, 4, 5])
    compare(told(Uneven(), resume=folder / kind / "first"), one["plain"], steps=[6, 7, 8, 9, 10, 11, 12])


@pytest.mark.parametrize("kind", KINDS)
def test_saved_by_one_and_gone_on_with_by_two(one, two, kind):
    compare(two[0][f"{kind} second"], one["plain"], steps=[6, 7, 8, 9, 10, 11, 12])


@pytest.mark.parametrize("kind", KINDS)
def test_with_dropout_two_go_on_as_if_never_stopped(two, kind):
    drawn, again = (numbered(two[0][f"{kind} {name}"]["losses"]) for name in ("drawn", "again"))
    assert list(again) == [6, 7, 8]
    assert again == pytest.approx({step: drawn[step] for step in again}, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_at_the_second_ends_both_after_the_same_step(folder, one, two, kind):
    for each in two:
        assert (each[f"{kind} told"]["step"], each[f"{kind} told"]["signal"]) == (5, signal.SIGTERM)
    run = folder / kind / "told"
    assert sorted(each.name for each in (run / "checkpoints").iterdir()) == ["step-00000000", "step-00000005"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_for_all_the_first_one_says(two, kind):
    for name, key in (("taken", "training.taken"), ("small", "training.parallel_batch")):
        assert [each[f"{kind} {name}"] for each in two] == [[key, True], [key, False]]


GONE = "TrainingError: Another process of this run has ended or no longer answers ("


def test_one_that_fails_leaves_nobody_waiting(folder):
    codes, logs = started("fails", folder)
    assert codes == [3, 3], logs
    assert GONE in logs[0]
    assert "ZeroDivisionError: in one process" in logs[1]
    assert load_run(folder / "fails", Fails()).step == 0


def test_one_that_is_silent_is_not_waited_for_for_ever(folder):
    codes, logs = started("silent", folder)
    assert codes == [3, 3], logs
    assert f"{GONE}[/" in logs[0]
    assert "Timed out" in logs[0]
    assert GONE in logs[1], "it finds that the other has gone"


def test_torchrun_the_command_and_sigterm(tmp_path):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--rdzv-backend",
        "c10d",
    ]
    command += ["--rdzv-endpoint", "localhost:0", "-m", "mirada.cli", "train", "reverse", "--parallel", "ddp"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "LC_ALL": "C"}
    process = subprocess.Popen(
        [*command, "--epochs", "1000", "--out", "run"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        metrics = tmp_path / "run" / "metrics.jsonl"
        ends = time.monotonic() + LONGEST
        while time.monotonic() < ends and not (metrics.exists() and metrics.read_bytes()):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LONGEST)
    finally:
        process.kill()  # its processes end with it: they hear from it no more
        process.wait()
    run = load_run(tmp_path / "run")
    assert run.step >= 10, err
    assert out.splitlines() == [
        f"Stopped and saved at step {run.step} of 313000, in run",
        "Next:",
        "  mirada train --resume run",
    ]
    assert run.metrics[-1]["step"] == run.step


def test_started_by_nobody(monkeypatch):
    for name in parallel.FROM_OUTSIDE:
        monkeypatch.delenv(name, raising=False)
    command = "torchrun --nproc-per-node 2 -m mirada.cli train reverse --parallel ddp"
    with pytest.raises(TrainingError, match=command):
        train("reverse", parallel="ddp")
    with pytest.raises(TrainingError, match="train --resume runs/copy --parallel fsdp"):
        train(resume="runs/copy", parallel="fsdp")
    with pytest.raises(TrainingError, match="expected ddp, fsdp"):
        train("reverse", parallel="dp")
    assert not Path("runs").exists()


def team(rank, world):
    """One of several, of whom nobody is there."""
    several = object.__new__(parallel.Several)
    several.rank, several.world, several.first = rank, world, rank == 0
    return several


def test_another_folder_under_the_same_name():
    second = team(1, 2)
    second.from_first = lambda work: ("run", 5)

    def nothing(folder):
        raise TrainingError("training.no_run", folder=folder)

    def older(folder):
        return SimpleNamespace(folder=folder, checkpoint=SimpleNamespace(step=4))

    for make in (nothing, older):
        with pytest.raises(TrainingError, match='Process 1 does not find in "run" what the first one finds'):
            second.planned(make)


@given(samples=st.integers(0, 41), world=st.integers(1, 13))
def test_slices_are_a_partition(samples, world):
    slices = [team(rank, world).slice(samples) for rank in range(world)]
    assert [i for each in slices for i in range(samples)[each]] == list(range(samples))
    sizes = [each.stop - each.start for each in slices]
    assert max(sizes) - min(sizes) <= 1


@given(data=st.data(), samples=st.integers(1, 11), world=st.integers(1, 7))
def test_weighed_losses_sum_to_that_of_the_whole(data, samples, world):
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 2**31)))
    logits = torch.randn(samples, 3, 5, generator=generator)
    targets = torch.randint(-2, 5, (samples, 3), generator=generator)
    batch = Batch((logits,), targets.where(targets >= 0, torch.tensor(-100)))
    parts = []
    for rank in range(world):
        own = team(rank, world).share(batch)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parallel.dist, "all_reduce", lambda x: None)
            x = own.inputs[0].clone().requires_grad_()
            parts.append(team(rank, world).backward(loss(x, own.targets), batch))
    assert torch.stack(parts).sum() == pytest.approx(loss(logits, batch.targets).item(), rel=1e-5, abs=1e-6)
