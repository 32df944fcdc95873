"""A sample of the families that `make breadth` goes through, and the judge itself held against faults."""

import warnings

import pytest
import torch
import torch.nn.functional as F
import transformers
from breadth import judge as judging
from breadth.audit import places
from breadth.configure import tiny
from breadth.families import families
from breadth.judge import NONE, WHOLE, WRONG, judge, same, tensors
from breadth.mixing import alone
from torch import nn

from mirada.watching.look import Look

FAMILIES = {family.name: family for family in families()}
# Encoders, decoders, both; grouped heads, sinks, windows, hybrids; images, speech; attention by hand.
SAMPLE = (
    "bart", "bert", "bloom", "clip", "deberta", "detr", "gpt2", "gpt_oss", "granitemoehybrid", "llama",
    "mistral", "openai", "qwen2_vl", "seggpt", "swin", "t5", "vit", "wav2vec2", "whisper",
)  # fmt: skip


@pytest.fixture(autouse=True)
def quiet():
    """What models warn about (deprecated names, odd configurations) is not ours."""
    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    transformers.logging.set_verbosity(level)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_family_is_seen_whole_and_exact(name):
    verdict = judge(FAMILIES[name])
    assert (verdict.verdict, verdict.wrong, verdict.missing, verdict.unproved) == (WHOLE, [], [], [])
    assert verdict.compared > 0 or name == "bloom", "nothing was laid beside eager attention"


def test_convolutions_have_no_attention():
    verdict = judge(FAMILIES["resnet"])
    assert verdict.verdict == NONE
    assert "ResNetModel" in verdict.sentence


def test_the_judge_finds_a_wrong_picture(monkeypatch):
    honest = Look.weights
    monkeypatch.setattr(Look, "weights", lambda look, *a, **k: honest(look, *a, **k).flip(-1))
    verdict = judge(FAMILIES["bert"])
    assert verdict.verdict == WRONG
    assert {path for path, _ in verdict.wrong} == {f"encoder.layer.{i}.attention.self" for i in range(2)}


def test_the_judge_finds_a_changed_output(monkeypatch):
    honest, runs = judging.run, []

    def run(model, inputs):
        runs.append(None)
        output = honest(model, inputs)
        if len(runs) == 4:  # two unwatched, one audited, then the watched one
            output[0][0, 0, 0] = torch.nextafter(output[0][0, 0, 0], torch.tensor(torch.inf))
        return output

    monkeypatch.setattr(judging, "run", run)
    verdict = judge(FAMILIES["bert"])
    assert (verdict.verdict, verdict.wrong) == (WRONG, [("", "outputs with and without watching differ")])


class SelfAttention(nn.Module):
    def forward(self, x):
        return F.softmax(x @ x.mT, -1) @ x


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.hand, self.norm = SelfAttention(), nn.Identity()

    def forward(self, x):
        x = F.scaled_dot_product_attention(x, x, x) + self.hand(x)
        return self.norm(x).softmax(-1)  # not in a module named for attention: a router, a pooling


def test_attention_is_found_by_its_operations():
    model = Mixed()
    with torch.no_grad():
        found = places(model, lambda: model(torch.randn(2, 3, 5, 7)))
    assert found == {"": "fused attention", "hand": "a softmax"}


def test_sameness_is_bit_for_bit():
    one = [torch.tensor([1.0, torch.nan])]
    assert same(one, [one[0].clone()])
    assert not same(one, [torch.tensor([1.0, 0.0])])
    assert not same(one, [torch.tensor([1.0 + 2**-23, torch.nan])])
    assert not same(one, [])
    assert len(list(tensors({"a": (one[0], [one[0]]), "b": None}))) == 2


def test_a_tiny_configuration_is_tiny_in_its_parts_and_has_each_sort_of_layer():
    clip = tiny(transformers.CLIPConfig)
    assert (clip.vision_config.hidden_size, clip.text_config.num_hidden_layers) == (64, 2)
    jamba = tiny(transformers.JambaConfig)
    assert len(set(jamba.layer_types)) == len(set(transformers.JambaConfig().layer_types)) == 2


class Streams(nn.Module):
    """As hyper-connections: each token mixes streams of its own. With `far`, tokens mix."""

    def __init__(self, far: bool):
        super().__init__()
        self.far = far

    def forward(self, x):
        weights = (x @ x.mT).tanh().softmax(-1)
        mixed = weights @ x
        return mixed, mixed.cumsum(1) if self.far else weights


class Model(nn.Module):
    def __init__(self, far: bool):
        super().__init__()
        self.near, self.perhaps, self.idle = Streams(False), Streams(far), Streams(False)

    def forward(self, input_ids, pixels=None):
        x = F.one_hot(input_ids, 5 * 7).float().unflatten(-1, (5, 7))
        return self.perhaps(self.near(x)[0])


def test_a_softmax_that_mixes_no_places_is_told_from_one_that_does():
    text = {"input_ids": torch.arange(22).view(2, 11)}
    every = ["near", "perhaps", "idle"]  # the last is never called: nothing is known
    assert alone(Model(False), text, every) == ["near", "perhaps"]
    assert alone(Model(True), text, every) == ["near"]
    assert (
        alone(Model(False), {"input_ids": text["input_ids"][:, None]}, every) == []
    )  # where are its places?
    assert alone(Model(False), {"input_ids": text["input_ids"][:, :1]}, every) == []  # who could mix?
