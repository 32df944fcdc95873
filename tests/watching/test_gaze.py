"""The gaze: counted, found by path, divided into runs, printed, and rolled out."""

import json
import math
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from watched import Calls, close, seen

import mirada
from mirada import Mask, MultiHeadAttention

X = torch.linspace(-1, 1, 2 * 5 * 12).reshape(2, 5, 12)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = MultiHeadAttention(12, 3)

    def forward(self, x, context=None, mask=None):
        x = self.attn(x, mask=mask)
        return x if context is None else self.attn(x, context)  # the same module, both ways


def stack(depth=2) -> nn.Module:
    def run(self, x, context=None, mask=None):
        for layer in self.layers:
            x = layer(x, context, mask)
        return x

    return Calls(run, layers=nn.ModuleList([Block() for _ in range(depth)]))


def test_counting_and_finding():
    gaze = seen(stack(), X, X[:, :3])
    assert len(gaze) == 4
    keys = [(look.path, look.kind) for look in gaze]
    assert keys == [(f"layers.{i}.attn", kind) for i in range(2) for kind in ("self", "cross")]
    assert [gaze[i] for i in range(-4, 4)] == [*gaze, *gaze]
    assert gaze["layers.1.attn", "cross"] is gaze[3] is gaze[-1]
    assert gaze["layers.1", "self"] is gaze["*.1.*", "self"] is gaze[2]
    assert seen(stack(1), X)["layers"].path == "layers.0.attn"
    for wrong in (4, -5):
        with pytest.raises(IndexError, match=f"there is no look {wrong}: there are 4, 0 to 3"):
            gaze[wrong]
    with pytest.raises(KeyError, match=r"'layers\.2' is none of the looks: layers\.0\.attn \(self\)"):
        gaze["layers.2"]
    with pytest.raises(KeyError, match=r"could be any of layers\.1\.attn \(self\), layers.*; say"):
        gaze["layers.1.attn"]
    with pytest.raises(KeyError, match=r"could be any of layers\.0"):
        gaze["layers.*", "self"]


def test_runs():
    model = stack()
    with mirada.watch(model) as gaze:
        model(X)
        model(2 * X[:, :3])
    assert [len(run) for run in gaze.runs] == [2, 2]
    assert [run[0].rows for run in gaze.runs] == [5, 3]
    assert gaze[0] is gaze.runs[1][0]  # of the last
    assert gaze.runs[0]["layers.1"].rows == 5
    assert "2 runs, of which this is the last" in repr(gaze)


def test_a_module_that_is_called_twice_opens_a_run():
    layer = MultiHeadAttention(12, 3)
    model = Calls(
        lambda self, x: self.last(self.shared(self.shared(x))), shared=layer, last=MultiHeadAttention(12, 2)
    )
    gaze = seen(model, X)
    assert [[look.path for look in run] for run in gaze.runs] == [["shared"], ["shared", "last"]]
    assert len(gaze) == 2
    close(gaze.runs[0][0].weights(), layer.weights(X))
    close(gaze.runs[1][0].weights(), layer.weights(layer(X)))


def test_memory_counts_what_is_shared_once():
    layer, x = MultiHeadAttention(12, 3).eval(), torch.randn(2, 11, 12)
    cache = mirada.KVCache(2, 3, 11, 4)
    with torch.no_grad(), mirada.watch(layer) as gaze:
        for i in range(11):
            layer(x[:, i : i + 1], cache=cache)
    assert (len(gaze.runs), gaze[0].steps, gaze[0].rows) == (1, 11, 11)
    token = 2 * 12 * 4  # bytes; the keys of each step by themselves would be 66 of it
    assert gaze.memory == gaze[0].memory <= 11 * token + 20 * token


def by_the_equation(gaze, sample):
    """Abnar and Zuidema: Â = (A + I) / 2 of each layer, multiplied from the last to the first."""
    result = torch.eye(5, dtype=torch.float64)
    for look in gaze:
        layer = (look.weights()[sample].double().mean(0) + torch.eye(5)) / 2
        result = layer / layer.sum(-1, keepdim=True) @ result
    return result


@pytest.mark.parametrize("mask", [None, Mask.causal(), Mask.padding([5, 3])], ids=repr)
@pytest.mark.parametrize("default", [torch.float32, torch.float64])
def test_rollout(mask, default):
    model = stack(3)
    gaze = seen(model, X, None, mask)
    try:
        torch.set_default_dtype(default)
        found = [gaze.rollout(sample=sample) for sample in range(2)]
        rows = gaze.rollout(rows=[4, -5], sample=1)
    finally:
        torch.set_default_dtype(torch.float32)
    for sample in range(2):
        close(found[sample], by_the_equation(gaze, sample).float())
    close(rows, found[1][[4, 0]])


def test_rollout_needs_square_tables_of_one_size():
    gaze = seen(Calls(lambda self, x: F.scaled_dot_product_attention(x[:, :3], x, x)), X)
    with pytest.raises(ValueError, match="must be square and of one size, and are 3 × 5"):
        gaze.rollout()
    with pytest.raises(ValueError, match="sample 2 is not there"):
        seen(stack(), X).rollout(sample=2)


def test_to_dict_is_json():
    gaze = seen(stack(1), X, X[:, :3], Mask.causal())
    gaze.tokens = ["</script><b>", "<s>", "\u200d", "👩‍👩‍👧", "x" * 300]
    said = json.loads(json.dumps(gaze.to_dict()))
    first, second = said["runs"][0]
    assert (first["path"], first["kind"], first["masks"]) == ("layers.0.attn", "self", ["Mask.causal()"])
    assert (second["rows"], second["keys"], second["kind"]) == (5, 3, "cross")
    assert (first["heads"], first["scale"], first["proved"]) == ([0, 1, 2], 0.5, True)
    assert said["tokens"] == gaze.tokens
    assert math.isclose(said["error"], gaze.error)


def test_print_a_gaze():
    model = Calls(
        lambda self, x: self.one(x, mask=Mask.causal()) + self.two(x, x[:, :3]),
        one=MultiHeadAttention(12, 3, num_kv_heads=1),
        two=MultiHeadAttention(12, 2),
    ).eval()
    gaze = seen(model, X)
    assert [re.sub(r"\d\.\de-\d\d", "#", line) for line in repr(gaze).splitlines()] == [
        "A gaze at Calls: 2 looks, 1.41 KB kept.",
        "     module  kind   heads     rows × keys  batch  kernel            kept       error",
        "[0]  one     self   3 over 1  5 × 5        2      mirada.attention  640 bytes  #",
        "[1]  two     cross  2         5 × 3        2      mirada.attention  768 bytes  #",
        "Proved: these weights give what the model made of them. Largest error #.",
    ]
    assert repr(gaze[0]).splitlines()[:3] == [
        "one, self-attention, mirada.attention",
        "3 over 1 heads of 4, 5 × 5 (rows look, keys are looked at), batch 2",
        "mask: Mask.causal()",
    ]
    assert "proved, error" in repr(gaze[0])
    assert repr(mirada.Gaze("Some")) == "A gaze at Some: nothing was seen."


def test_masked_tiny_and_absent_are_three_things():
    query = torch.tensor([[[[1.0, 0.0], [100.0, 0.0]]]])
    key = torch.tensor([[[[0.0, 1.0], [-90.0, 0.0], [0.0, 0.0]]]])
    mask = Mask.allowed(torch.tensor([[True, True, False], [True, True, True]]))
    look = seen(Calls(lambda self, q: mirada.attention(q, key, key, mask)), query)[0]
    weights, states = look.weights()[0, 0], look.states()[0, 0]
    assert states.tolist() == [[0, 0, 1], [0, 0, 0]]
    assert weights[0, 2] == 0  # masked
    assert 0 < weights[0, 1] < 1e-20  # tiny
    assert weights[1, 1] == 0  # too small for float32, and still not masked


def test_summaries_agree_with_the_table():
    look = seen(stack(1), X, None, Mask.causal() & Mask.padding([5, 3]))[0]
    weights = look.weights()
    close(look.row_sums(), weights.sum(-1))
    close(look.entropy(), -(weights * weights.clamp(min=1e-30).log()).sum(-1))
    places = torch.arange(5.0)
    close(look.distance(), (weights * (places[:, None] - places).abs()).sum(-1))
    top = look.top(2)
    close(top.weights, weights.topk(2).values)
    for sink in look.sinks(0.2):
        assert sink.share >= 0.2
