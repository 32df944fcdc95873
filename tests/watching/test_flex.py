"""flex_attention: its weights are recomputed from score_mod and block_mask."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from watched import Calls, close, seen

import mirada

HEADS, ROWS, KEYS, WIDTH = 6, 5, 7, 3
TABLE = torch.linspace(-1, 2, ROWS * KEYS).reshape(ROWS, KEYS)


def alibi(score, b, h, q, k):
    return score + (k - q) * 2.0 ** -(h + 1)


def softcap(score, b, h, q, k):
    return 0.7 * torch.tanh(score / 0.7)


def causal(score, b, h, q, k):
    return torch.where(k <= q + KEYS - ROWS, score, -math.inf)


def of_a_table(score, b, h, q, k):
    return score * 0.5 + TABLE[q, k] * (b + 1)


def window(b, h, q, k):
    return (q - k).abs() < 3


def by_hand(score_mod, mask_mod, q: Tensor, k: Tensor, scale: float) -> Tensor:
    """In loops, float64."""
    batch, heads, rows, _ = q.shape
    weights = torch.zeros(batch, heads, rows, k.shape[2], dtype=torch.float64)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (batch, heads, rows))).tolist():
        scores = []
        for j in range(k.shape[2]):
            products = zip(q[b, h, i].tolist(), k[b, h // (heads // k.shape[1]), j].tolist(), strict=True)
            place = [torch.tensor(x) for x in (b, h, i, j)]
            score = torch.tensor(scale * math.fsum(x * y for x, y in products), dtype=torch.float64)
            score = score_mod(score, *place) if score_mod else score
            visible = mask_mod is None or bool(mask_mod(*place))
            scores.append(float(score) if visible else -math.inf)
        powers = [math.exp(s - max(scores)) for s in scores]
        weights[b, h, i] = torch.tensor([p / math.fsum(powers) for p in powers])
    return weights


@pytest.mark.parametrize("score_mod", [None, alibi, softcap, causal, of_a_table])
@pytest.mark.parametrize("mask_mod", [None, window])
@pytest.mark.parametrize("key_heads", [HEADS, 2])
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_weights(score_mod, mask_mod, key_heads):
    q, k = torch.randn(2, HEADS, ROWS, WIDTH), torch.randn(2, key_heads, KEYS, WIDTH)
    v = torch.randn(2, key_heads, KEYS, 4)
    block_mask = create_block_mask(mask_mod, None, None, ROWS, KEYS, device="cpu") if mask_mod else None
    options = {"score_mod": score_mod, "block_mask": block_mask, "scale": 0.4}
    model = Calls(lambda self, *x: flex_attention(*x, **options, enable_gqa=key_heads != HEADS))
    gaze = seen(model, q, k, v)
    assert (len(gaze), len(gaze.runs), gaze.proved) == (1, 1, True)
    assert (gaze[0].kernel, gaze[0].num_kv_heads) == ("flex_attention", key_heads)
    wanted = by_hand(score_mod, mask_mod, q, k, 0.4)
    close(gaze[0].weights(), wanted)
    assert not gaze[0].weights()[wanted == 0].any()


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_beside_others():
    def run(self, x):
        return flex_attention(x, x, x, score_mod=alibi), mirada.attention(x, x, x)

    gaze = seen(Calls(run), torch.randn(1, 2, ROWS, WIDTH))
    assert [look.kernel for run in gaze.runs for look in run] == ["flex_attention", "mirada.attention"]
    assert gaze.proved
