"""Attention written out by hand: seen where its scores can be followed, and noted where they cannot."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import mirada

HEADS, WIDTH, LENGTH = 3, 5, 7
FUTURE = torch.ones(LENGTH, LENGTH).triu(1).bool()
ALIBI = torch.linspace(-1, 1, 2 * HEADS * LENGTH).view(2 * HEADS, 1, LENGTH)


class ByHand(nn.Module):
    """Gives the weights it used, so that what is seen can be compared with them."""

    def __init__(self, way):
        super().__init__()
        self.num_heads, self.way = HEADS, way
        self.proj = nn.Linear(HEADS * WIDTH, 3 * HEADS * WIDTH)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        q, k, v = self.proj(x).unflatten(-1, (3, HEADS, WIDTH)).permute(2, 0, 3, 1, 4)
        weights = self.way(self, q, k).view(len(x), HEADS, LENGTH, LENGTH)
        return weights, weights @ v


def flat(x):
    return x.reshape(-1, *x.shape[-2:])


def in_place(model, q, k):
    scores = torch.matmul(q, k.transpose(-1, -2))
    scores /= 3
    scores += torch.linspace(0, 1, LENGTH)
    scores.masked_fill_(FUTURE, torch.finfo(scores.dtype).min)
    return F.softmax(scores, -1)


def by_bmm(model, q, k):
    """As OPT did: heads folded into the batch, unfolded for the mask, folded again, softmax in float32."""
    scores = torch.bmm(flat(q) * WIDTH**-0.5, flat(k).transpose(1, 2))
    scores = scores.view(2, HEADS, LENGTH, LENGTH) + torch.where(FUTURE, -1e9, 0.0)
    scores = torch.max(scores, torch.tensor(torch.finfo(scores.dtype).min))
    return F.softmax(flat(scores), dim=-1, dtype=torch.float32)


WAYS = {
    "matmul": lambda m, q, k: torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(WIDTH), -1),
    "scaled query": lambda m, q, k: torch.softmax((q * 0.3) @ k.mT, dim=-1),
    "masked_fill": lambda m, q, k: ((q @ k.mT) * 0.4).masked_fill(FUTURE, -math.inf).softmax(-1),
    "where": lambda m, q, k: torch.where(FUTURE, torch.finfo(q.dtype).min, q @ k.mT).softmax(-1),
    "where, the other way": lambda m, q, k: torch.where(~FUTURE, q.matmul(k.mT), -1e9).softmax(-1),
    "einsum": lambda m, q, k: m.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * 0.3),
    "einsum, length first": lambda m, q, k: m.softmax(
        torch.einsum("ibnd,jbnd->bnij", q.permute(2, 0, 1, 3), k.permute(2, 0, 1, 3))
    ),
    "one key for all heads": lambda m, q, k: m.softmax(torch.einsum("bhid,bjd->bhij", q, k[:, 0])),
    "two products": lambda m, q, k: ((q @ k.mT + (2 * q) @ q.mT) / 4).softmax(-1),
    "a difference": lambda m, q, k: (q @ k.mT - 3 * q @ q.mT - torch.linspace(0, 1, LENGTH)).softmax(-1),
    "alibi by baddbmm": lambda m, q, k: (
        ALIBI.baddbmm(flat(q), flat(k).mT, beta=0.5, alpha=0.3).view(2, HEADS, LENGTH, LENGTH).softmax(-1)
    ),
    "a factor for each head": lambda m, q, k: (q @ k.mT * torch.arange(1.0, 4.0).view(3, 1, 1)).softmax(-1),
    "less the largest": lambda m, q, k: F.softmax((s := q @ k.mT) - s.amax(-1, keepdim=True), -1),
    "bias on the left": lambda m, q, k: (FUTURE.float() * -1e4 + 2 * (q @ k.mT)).float().softmax(-1),
    "in place": in_place,
    "bmm": by_bmm,
}


@pytest.mark.parametrize("way", WAYS)
def test_the_weights_are_those_that_the_model_used(way):
    model, x = ByHand(WAYS[way]), torch.randn(2, LENGTH, HEADS * WIDTH)
    before, output = model(x)
    with mirada.watch(model) as gaze:
        weights, watched = model(x)
    assert torch.equal(weights, before)
    assert torch.equal(watched, output)
    assert not gaze.unseen
    assert gaze.proved
    assert [look.path for look in gaze] == [""]  # not that of its softmax, which is a module as well
    torch.testing.assert_close(gaze[0].weights(), weights.detach(), rtol=0, atol=1e-6)


LOST = {
    "bent": lambda m, q, k: (q @ k.mT).tanh().softmax(-1),
    "of no product": lambda m, q, k: q[..., :1].expand(-1, -1, -1, LENGTH).softmax(-1),
    "over the rows": lambda m, q, k: (q @ k.mT).softmax(-2),
    "of a part": lambda m, q, k: F.pad((q @ k.mT)[..., 1:], (0, 1)).softmax(-1),
    "changed behind our back": lambda m, q, k: changed(q @ k.mT).softmax(-1),
}


def changed(scores):
    scores[..., 0] = 3  # an assignment to a part
    return scores


@pytest.mark.parametrize("way", LOST)
def test_what_cannot_be_followed_is_noted_and_never_shown(way):
    model = ByHand(LOST[way])
    with (
        pytest.raises(
            mirada.NothingSeen, match="ByHand takes a softmax over 2 × 3 × 7 × 7 of what could not"
        ),
        mirada.watch(model) as gaze,
    ):
        model(torch.randn(2, LENGTH, HEADS * WIDTH))
    assert not len(gaze)
    assert gaze.unseen == [("", "ByHand takes a softmax over 2 × 3 × 7 × 7 of what could not be followed")]


def test_a_softmax_that_is_not_over_the_keys_is_no_attention():
    class Router(nn.Module):
        def forward(self, x):
            return x.softmax(1), F.softmax(x.flatten(0, 1), -1), mirada.attention(x, x, x)

    with mirada.watch(router := Router()) as gaze:
        router(torch.randn(2, 7, 5))
    assert not gaze.unseen


def test_half_precision():
    model = ByHand(WAYS["matmul"]).bfloat16()
    x = torch.randn(2, LENGTH, HEADS * WIDTH, dtype=torch.bfloat16)
    with mirada.watch(model) as gaze:
        weights, _ = model(x)
    torch.testing.assert_close(gaze[0].weights(), weights.float().detach(), rtol=0, atol=1e-2)


def test_nothing_is_held_once_it_is_over():
    import gc
    import weakref

    model, x = ByHand(WAYS["matmul"]), torch.randn(2, LENGTH, HEADS * WIDTH)
    with mirada.watch(model) as gaze:
        weights, output = model(x)
    held = weakref.ref(weights)
    del weights, output, gaze
    gc.collect()
    assert held() is None
