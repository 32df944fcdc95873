"""Attention written out by hand: seen where its scores can be followed, and noted where they cannot."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import mirada

HEADS, WIDTH, LENGTH = 3, 5, 7
FUTURE = torch.ones(LENGTH, LENGTH).triu(1).bool()
HOLED = torch.ones(LENGTH, LENGTH).bool()
HOLED[1, 2] = False  # a row that the proof does not look at
ONE_LARGE = torch.ones(LENGTH, 1)
ONE_LARGE[1] = 1e4  # the same row
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


def two_sorts(model, q, k):
    """Each with a query, a scale and a mask of its own, one key of the second for all heads."""
    near = ((q @ k[:, :, :3].mT) / 2).masked_fill(FUTURE[:, :3], -math.inf)
    far = torch.einsum("bhid,bjd->bhij", 2 * q + 1, k[:, 0, 3:]) + torch.linspace(0, 1, 4)
    return torch.cat((near, far), dim=3).softmax(-1)


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
    "a mask multiplied in": lambda m, q, k: (
        (q @ k.mT / 2) * (~FUTURE).float() + -1e4 * (1 - (~FUTURE).float())
    ).softmax(-1),
    "a mask multiplied in, and subtracted": lambda m, q, k: (
        (~FUTURE * (q @ k.mT) - 1e4 * FUTURE).view(-1, LENGTH, LENGTH) + torch.linspace(0, 1, LENGTH)
    ).softmax(-1),
    "einsum with dots": lambda m, q, k: torch.einsum("...id,...jd->...ij", q, k).softmax(-1),
    "einsum with dots on one side": lambda m, q, k: torch.einsum(
        "h...id,...jd->...hij", q.transpose(0, 1), k[:, 0]
    ).softmax(-1),
    "keys of two sorts": lambda m, q, k: torch.cat([q @ k[..., :3, :].mT, q @ k[..., 3:, :].mT], -1).softmax(
        -1
    ),
    "scores of two sorts": two_sorts,
    "turned round": lambda m, q, k: (k @ q.mT + FUTURE.T * -1e9).transpose(-1, -2).softmax(-1),
    "turned round by mT": lambda m, q, k: (k @ q.mT * 0.3).mT.softmax(-1),
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
    "times zero, and not made low": lambda m, q, k: (q @ k.mT * HOLED).softmax(-1),
    "times zero, and made low elsewhere": lambda m, q, k: (q @ k.mT * HOLED - 1e4 * HOLED.roll(1, 0)).softmax(
        -1
    ),
    "times zero, scores that were biased": lambda m, q, k: (
        (q @ k.mT + 5 * FUTURE) * HOLED - 1e4 * ~HOLED
    ).softmax(-1),
    "bounded from above": lambda m, q, k: (q * ONE_LARGE @ k.mT).clamp(min=-5e4, max=20).softmax(-1),
    "side by side with what is no product": lambda m, q, k: torch.cat(
        [(q @ k.mT)[..., 1:], q[..., :1]], -1
    ).softmax(-1),
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


@pytest.mark.parametrize("softmax", [torch.float64, torch.float32])
def test_double_precision(softmax):
    model = ByHand(lambda m, q, k: (q @ k.mT / 2).softmax(-1, dtype=softmax).double()).double()
    with mirada.watch(model) as gaze:
        weights, _ = model(torch.randn(2, LENGTH, HEADS * WIDTH, dtype=torch.float64))
    assert gaze.proved
    assert gaze.error <= (1e-14 if softmax == torch.float64 else 1e-7)
    torch.testing.assert_close(gaze[0].weights(), weights.float().detach(), rtol=0, atol=1e-7)


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


def test_positions_on_a_grid_are_added_to_the_scores_that_they_belong_to():
    """As SegGPT does: rows are 2 × 3 places, keys too, and each side has a table of its own."""
    tall, wide = torch.randn(2 * HEADS, 2, 3, 2, 1), torch.randn(2 * HEADS, 2, 3, 1, 3)

    class Grid(ByHand):
        def forward(self, x):
            q, k = self.proj(x).unflatten(-1, (3, HEADS, WIDTH)).permute(2, 0, 3, 1, 4)[:2]
            scores = (flat(q) @ flat(k).mT).reshape(2 * HEADS, 2, 3, 2, 3)
            scores = (scores + tall + wide).masked_fill(wide > 1, -math.inf) * 0.7
            return scores.reshape(2 * HEADS, 6, 6).softmax(-1)

    model, x = Grid(None), torch.randn(2, 6, HEADS * WIDTH)
    with mirada.watch(model) as gaze:
        weights = model(x)
    assert (gaze.proved, gaze.unseen) == (True, [])
    torch.testing.assert_close(gaze[0].weights().flatten(0, 1), weights.detach(), rtol=0, atol=1e-6)


def test_a_module_may_look_both_ways_at_once():
    """As Grounding DINO fuses an image and a text: the same scores, over rows and over columns."""

    class BothWays(nn.Module):
        def forward(self, x, y):
            scores = x @ y.mT
            return (scores - scores.max()).softmax(-1), scores.transpose(1, 2).softmax(-1)

    with mirada.watch(model := BothWays()) as gaze:
        there, back = model(torch.randn(2, 5, 3), torch.randn(2, 7, 3))
    assert not gaze.unseen
    assert [(look.rows, look.keys) for run in gaze.runs for look in run] == [(5, 7), (7, 5)]
    for run, weights in zip(gaze.runs, (there, back), strict=True):
        torch.testing.assert_close(run[0].weights()[:, 0], weights, rtol=0, atol=1e-6)


def test_blocks_as_many_as_heads_are_not_taken_for_heads():
    class Blocks(nn.Module):
        num_heads = 3

        def forward(self, x):
            return (x @ x.mT).softmax(-1)

    with mirada.watch(model := Blocks()) as gaze:
        model(torch.randn(2, 5, 3, 7, 2))  # (batch, blocks, heads, …)
    assert gaze[0].batch == 10
    assert len(gaze[0].heads) == 3
    with pytest.raises(mirada.NothingSeen, match="2 × 3 × 3 × 7 × 7"), mirada.watch(model):
        model(torch.randn(2, 3, 3, 7, 2))
