"""A gaze in a file: what comes back is what was saved, and what is not a gaze is refused in words."""

import json
import re
import struct

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import mirada
from mirada import Mask


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = mirada.MultiHeadAttention(15, 3, head_dim=5)
        self.cross = mirada.MultiHeadAttention(15, 3, d_context=11, head_dim=5)

    def forward(self, x, context, mask, cache=None):
        x = x + self.attend(x, mask=mask, cache=cache)
        return self.cross(x, context)


@pytest.fixture
def gaze():
    model, context = Decoder().eval(), torch.randn(2, 3, 11)
    with torch.no_grad(), mirada.watch(model) as gaze:
        model(torch.randn(2, 7, 15), context, Mask.causal() & Mask.padding([4, 7], side="left"))
        cache = mirada.KVCache(2, 3, 9, 5)
        model(torch.randn(2, 5, 15), context, Mask.causal(), cache)
        model(torch.randn(2, 1, 15), context, Mask.causal(), cache)
    gaze.tokens = ["«", "</script><b>", "\u200d", "👩‍👩‍👧", "مرحبا", "\n"]
    gaze.note("cross", "because")
    return gaze


def told(gaze):
    """All that is said of a gaze, in JSON, but for its memory."""
    said = gaze.to_dict()
    for part in (said, *(look for run in said["runs"] for look in run)):
        del part["memory"]
    return json.dumps(said)


def printed(gaze):
    return re.sub(r"[\d.]+ KB|\d+ bytes|\s+", " ", str(gaze)).replace("  ", " ")


def test_what_comes_back_is_what_was_saved(gaze, tmp_path):
    gaze.save(tmp_path / "a.safetensors")
    back = mirada.load_gaze(tmp_path / "a.safetensors")
    assert told(back) == told(gaze)
    assert printed(back) == printed(gaze)
    assert len(back.runs) == len(gaze.runs) == 2
    for run, other in zip(back.runs, gaze.runs, strict=True):
        for look, saved in zip(run, other, strict=True):
            assert torch.equal(look.weights(), saved.weights())
            assert torch.equal(look.states(), saved.states())
            assert look.positions == saved.positions
            assert repr(look) == repr(saved)
    assert back.runs[1][0].steps == 2
    assert back.memory <= gaze.memory  # what was shared is shared, and no room is left for steps to come


def test_in_half_the_size(gaze, tmp_path):
    gaze.save(tmp_path / "half.safetensors", torch.float16)
    back = mirada.load_gaze(tmp_path / "half.safetensors")
    assert back[0].calls[0].query.dtype == torch.float16
    torch.testing.assert_close(back[0].weights(), gaze[0].weights(), rtol=0, atol=2e-3)
    with pytest.raises(ValueError, match=r"dtype is torch.bfloat16; expected torch.float32 or torch.float16"):
        gaze.save(tmp_path / "b.safetensors", torch.bfloat16)


def test_a_large_bias_is_no_block_in_half_the_size(tmp_path):
    layer = mirada.MultiHeadAttention(8, 2).eval()
    bias = torch.zeros(5, 5)
    bias[:, 0] = -1e8  # float16 ends at 65,504
    with torch.no_grad(), mirada.watch(layer) as gaze:
        layer(torch.randn(1, 5, 8), mask=Mask.bias(bias))
    gaze.save(tmp_path / "a.safetensors", torch.float16)
    assert torch.equal(mirada.load_gaze(tmp_path / "a.safetensors")[0].states(), gaze[0].states())
    assert (gaze[0].states() == 0).all()


def rewritten(path, change):
    """The same file with its description changed."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8 : 8 + size])
    told = json.loads(head["__metadata__"]["mirada"])
    change(told)
    head["__metadata__"]["mirada"] = json.dumps(told)
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


def first_call(told):
    return told["runs"][0][0]["calls"][0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.update(version=2), "is a gaze of version 2; this Mirada reads up to 1: update it"),
        (lambda t: t.update(format="other"), "damaged gaze"),
        (lambda t: t.pop("runs"), "damaged gaze: KeyError 'runs'"),
        (lambda t: first_call(t).update(query="t99"), "damaged gaze"),
        (lambda t: first_call(t).update(shape=[2, 3, 7, 8]), "damaged gaze"),
        (lambda t: first_call(t).update(shape=None), "damaged gaze"),
        (lambda t: first_call(t).update(heads=[0]), "damaged gaze"),
        (lambda t: first_call(t).update(scale="wide"), "damaged gaze"),
        (lambda t: first_call(t)["mask"][0].update(kind="spiral"), "damaged gaze"),
        (lambda t: first_call(t)["mask"][1].update(tensor=None), "damaged gaze"),
        (lambda t: t["runs"][0][0].update(kind="sideways"), "damaged gaze"),
        (lambda t: t["runs"][0][0].update(starts=[]), "damaged gaze"),
        (lambda t: t.update(runs=[[1]]), "damaged gaze"),
        (lambda t: t.update(tokens=7), "damaged gaze"),
    ],
)
def test_a_damaged_or_newer_one_is_refused(gaze, tmp_path, change, sentence):
    path = tmp_path / "a.safetensors"
    gaze.save(path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=r"a\.safetensors") as error:
        mirada.load_gaze(path)
    assert sentence in str(error.value)


@pytest.mark.parametrize("keep", [0, 7, 100, -10])
def test_a_file_cut_short_is_refused(gaze, tmp_path, keep):
    path = tmp_path / "a.safetensors"
    gaze.save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="damaged, or not a gaze"):
        mirada.load_gaze(path)


def test_what_is_no_gaze_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"is not a file; expected one that gaze\.save wrote"):
        mirada.load_gaze(tmp_path / "missing")
    (tmp_path / "text").write_text("not tensors at all, but long enough to be looked into")
    with pytest.raises(ValueError, match="damaged, or not a gaze"):
        mirada.load_gaze(tmp_path / "text")
    save_file({"a": torch.zeros(3)}, tmp_path / "tensors")
    with pytest.raises(ValueError, match="holds tensors, but no gaze"):
        mirada.load_gaze(tmp_path / "tensors")
