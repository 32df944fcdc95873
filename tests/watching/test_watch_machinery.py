"""torch.compile, activation checkpointing and DistributedDataParallel around a model that is watched."""

import copy
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode
from watched import Calls, close, gradients, same

import mirada
from mirada import MultiHeadAttention


@pytest.mark.parametrize("compile", ["torch.compile", "in place"])
def test_a_compiled_model_runs_as_its_eager_self(compile):
    model = nn.Sequential(MultiHeadAttention(12, 3), nn.ReLU(), MultiHeadAttention(12, 3))
    eager = copy.deepcopy(model)
    x = torch.randn(2, 5, 12)
    calls = []

    def backend(graph, _):
        calls.append(graph)
        return graph.forward

    if compile == "torch.compile":
        watched = torch.compile(model, backend=backend)
    else:
        model.compile(backend=backend)
        watched = model
    with mirada.watch(watched) as gaze:
        assert same(watched(x), eager(x))
    assert not calls
    assert [look.path for look in gaze] == ["0", "2"]
    assert gaze.proved
    assert gaze.model == "Sequential"
    with torch.no_grad():
        watched(x)
    assert calls  # it is compiled again
    torch._dynamo.reset()


def test_a_model_that_is_compiled_inside_the_watch():
    model = MultiHeadAttention(12, 3)
    x = torch.randn(2, 5, 12)
    with mirada.watch(model) as gaze:
        torch.compile(model, backend="eager")(x)
    close(gaze[0].weights(), model.weights(x))


FIRST = """
import sys, warnings, torch, mirada
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
assert "torch._dynamo" not in sys.modules  # slow to import: the watch has not asked for it
warnings.simplefilter("ignore")

class Model(nn.Module):
    def forward(self, x):
        return flex_attention(x, x, x, score_mod=lambda score, b, h, q, k: score + (k - q))

x, model, layer, before = torch.randn(1, 2, 5, 3), Model(), mirada.MultiHeadAttention(6, 2), torch.compile
with mirada.watch(WATCHED) as gaze:
    CALL
assert torch.compile is before and torch._dynamo.eval_frame._stance.stance == "default"
assert len(gaze) == len(gaze.runs) == 1 and gaze.proved
print(gaze[0].kernel)
"""


@pytest.mark.parametrize(
    ("watched", "call", "kernel"),
    [
        ("model", "model(x)", "flex_attention"),
        ("layer", "torch.compile(layer, backend='eager')(torch.randn(1, 5, 6))", "mirada.attention"),
    ],
)
def test_what_compiles_for_the_first_time_inside_a_watch(watched, call, kernel):
    code = FIRST.replace("WATCHED", watched).replace("CALL", call)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == kernel


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("inside", [True, False], ids=["backward inside", "backward outside"])
def test_activation_checkpointing(reentrant, inside):
    layers = nn.ModuleList([MultiHeadAttention(12, 3, dropout=0.2) for _ in range(2)])

    def run(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=reentrant)
        return x

    model = Calls(run, layers=layers)
    x = torch.randn(2, 5, 12, requires_grad=True)
    wanted = gradients(model, x, watched=False)
    torch.manual_seed(5)
    model.zero_grad()
    with mirada.watch(model) as gaze:
        output = model(x)
        if inside:
            (output * torch.linspace(-1, 1, 12)).sum().backward()
    if not inside:
        (output * torch.linspace(-1, 1, 12)).sum().backward()
    for a, p in zip(wanted, model.parameters(), strict=True):
        assert torch.equal(a, p.grad)
    assert gaze.proved
    assert [look.path for look in gaze.runs[0]] == ["layers.0", "layers.1"]
    for run in gaze.runs[1:]:  # what backward computes again is a run of its own, of the same weights
        assert inside
        for look in run:
            assert torch.equal(look.weights(), gaze.runs[0][look.path].weights())


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.mine = MultiHeadAttention(12, 3)
        self.theirs = nn.TransformerEncoderLayer(12, 2, 20, batch_first=True)

    def forward(self, x):
        return self.theirs(self.mine(x))


DATA_PARALLEL = """
import os, sys, torch, mirada
from torch import nn

class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.mine = mirada.MultiHeadAttention(12, 3)
        self.theirs = nn.TransformerEncoderLayer(12, 2, 20, batch_first=True)

    def forward(self, x):
        return self.theirs(self.mine(x))

torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
model, x = nn.parallel.DistributedDataParallel(Both().eval()), torch.randn(2, 5, 12)
wanted = model(x)
for watched in (model, model.module):
    with mirada.watch(watched) as gaze:
        output = model(x)
    assert torch.equal(output, wanted)
    assert len(gaze) == 2
    assert gaze.proved
    output.sum().backward()
assert gaze["mine"].kind == "self"
print("seen", flush=True)
os._exit(0)  # to take a process group apart, PyTorch waits for a thread that may wait for the interpreter
"""


def test_data_parallel(tmp_path):
    command = [sys.executable, "-c", DATA_PARALLEL, str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "seen\n"), done.stderr


def test_a_counter_of_operations_counts_the_model_alone():
    model, x = Both().eval(), torch.randn(2, 5, 12)
    counts = []
    for watched in (False, True):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            if watched:
                with mirada.watch(model) as gaze:
                    model(x)
            else:
                model(x)
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1] > 0
    assert gaze.proved


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_said_not_to_be_seen():
    script = torch.jit.script(nn.MultiheadAttention(12, 3))
    model = Calls(
        lambda self, x: self.script(self.mine(x), x, x)[0], script=script, mine=MultiHeadAttention(12, 3)
    )
    x = torch.randn(2, 5, 12)
    expected = model(x)
    with mirada.watch(model) as gaze:
        assert same(model(x), expected)
    assert [look.path for look in gaze] == ["mine"]
    assert gaze.unseen == [("script", "compiled by TorchScript: what it calls cannot be seen")]


def test_autocast_around_all_of_it():
    model, x = Both().eval(), torch.randn(2, 5, 12)
    for grad in (True, False):
        with torch.set_grad_enabled(grad), torch.autocast("cpu", torch.bfloat16):
            expected = model(x)
            with mirada.watch(model) as gaze:
                assert same(model(x), expected)
        assert gaze.proved
        assert {look.calls[0].query.dtype for look in gaze} == {torch.bfloat16}
        close(gaze[0].weights().sum(-1), torch.ones(2, 3, 5))


def test_functional_call():
    model, x = Both().eval(), torch.randn(2, 5, 12)
    parameters = {name: 2 * p.detach() for name, p in model.named_parameters()}
    expected = torch.func.functional_call(model, parameters, (x,))
    with mirada.watch(model) as gaze:
        assert same(torch.func.functional_call(model, parameters, (x,)), expected)
    assert gaze.proved
    assert len(gaze) == 2
