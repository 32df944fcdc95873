"""Rotary positions inside the layer: what it turns, by which positions, and left padding."""

import math

import pytest
import torch

from mirada import Mask, MultiHeadAttention, RotaryPositions

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def build(layout="half", dtype=torch.float64, **options):
    torch.manual_seed(3)
    rotary = RotaryPositions(6, layout=layout)
    layer = MultiHeadAttention(13, 6, num_kv_heads=2, head_dim=6, rotary=rotary, dtype=dtype, **options)
    return layer, torch.randn(2, 5, 13, dtype=dtype)


def turned_by_hand(vector, position, layout, base=10000.0):
    """One query or key, pair by pair."""
    vector, result, half = vector.tolist(), [0.0] * len(vector), len(vector) // 2
    for i in range(half):
        a, b = (i, i + half) if layout == "half" else (2 * i, 2 * i + 1)
        angle = position / base ** (2 * i / len(vector))
        result[a] = vector[a] * math.cos(angle) - vector[b] * math.sin(angle)
        result[b] = vector[a] * math.sin(angle) + vector[b] * math.cos(angle)
    return torch.tensor(result, dtype=torch.float64)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_turns_queries_and_keys_by_hand(layout):
    layer, x = build(layout)
    positions = torch.tensor([[3, 4, 5, 6, 7], [0, 2, 11, 1, 5]])
    query, key, _ = layer.qkv_proj(x).split((36, 12, 12), dim=-1)
    scores = torch.empty(2, 6, 5, 5, dtype=torch.float64)
    for b in range(2):
        for head in range(6):
            for i in range(5):
                for j in range(5):
                    q = query[b, i, 6 * head : 6 * head + 6]
                    k = key[b, j, 6 * (head // 3) : 6 * (head // 3) + 6]
                    q = turned_by_hand(q, positions[b, i].item(), layout)
                    k = turned_by_hand(k, positions[b, j].item(), layout)
                    scores[b, head, i, j] = q @ k / math.sqrt(6)
    torch.testing.assert_close(layer.weights(x, positions=positions), scores.softmax(-1), **CLOSE)


def test_counts_from_zero_unless_told():
    # C.Origami#42, hello-agents#61: batch 3, length 5: positions run along the length.
    layer, _ = build()
    x = torch.randn(3, 5, 13, dtype=torch.float64)
    for call in (layer, layer.weights):
        torch.testing.assert_close(call(x), call(x, positions=torch.arange(5)), rtol=0, atol=0)
        torch.testing.assert_close(call(x), call(x, positions=torch.arange(5).expand(3, 5)), rtol=0, atol=0)


def test_only_distances_count():
    layer, x = build()
    near, far = layer(x, positions=torch.arange(5)), layer(x, positions=torch.arange(5) + 1857)
    torch.testing.assert_close(near, far, rtol=0, atol=1e-11)
    stretched = layer(x, positions=2 * torch.arange(5))
    assert not torch.allclose(near, stretched)


def test_values_are_not_turned():
    layer, x = build()
    own = Mask.allowed(torch.eye(5, dtype=torch.bool))  # each word takes its own value, whole
    near, far = layer(x, mask=own), layer(x, mask=own, positions=torch.arange(5) + 3)
    torch.testing.assert_close(near, far, **CLOSE)


def test_left_padding_equals_each_sample_alone():
    # transformers#3021, keras-hub#571, nnsight#673
    layer, x = build()
    positions = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]])
    mask = Mask.causal() & Mask.padding(torch.tensor([5, 3]), side="left")
    together = layer(x, mask=mask, positions=positions)
    weights = layer.weights(x, mask=mask, positions=positions)
    for row, first in ((0, 0), (1, 2)):
        alone = x[row : row + 1, first:]
        torch.testing.assert_close(together[row : row + 1, first:], layer(alone, mask=Mask.causal()), **CLOSE)
        torch.testing.assert_close(
            weights[row : row + 1, :, first:, first:], layer.weights(alone, mask=Mask.causal()), **CLOSE
        )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("start", [1857, 15962])
def test_far_positions_in_half_precision(start, dtype):
    # gpt-neox#1003, transformers#29285, candle#3520: angles computed in half precision are noise out there.
    layer, x = build(dtype=dtype)
    positions = torch.arange(start, start + 5)
    exact, _ = build()
    exact.load_state_dict({name: value.double() for name, value in layer.state_dict().items()})
    one, other = layer(x, positions=positions), exact(x.double(), positions=positions)
    tolerance = 2e-2 if dtype == torch.bfloat16 else 2e-3
    torch.testing.assert_close(one.double(), other, rtol=tolerance, atol=tolerance)


def test_nothing_is_learned_or_saved():
    layer, _ = build()
    assert not any("rotary" in name for name in layer.state_dict())
    assert sum(p.numel() for p in layer.parameters()) == 13 * 60 + 60 + 36 * 13 + 13


def test_built_on_meta_and_filled_later():
    layer, x = build()
    rotary = RotaryPositions(6)
    empty = MultiHeadAttention(
        13, 6, num_kv_heads=2, head_dim=6, rotary=rotary, device="meta", dtype=torch.float64
    )
    empty.to_empty(device="cpu").load_state_dict(layer.state_dict())
    assert torch.equal(empty(x), layer(x))


def test_gradcheck():
    layer, x = build()
    positions = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]])
    run = lambda given: layer(given, mask=Mask.causal(), positions=positions)  # noqa: E731
    assert torch.autograd.gradcheck(run, x.requires_grad_(), fast_mode=True)


def test_what_does_not_fit():
    layer, x = build()
    with pytest.raises(ValueError, match=r"positions .*\(5,\) or \(2, 5\), got \(5, 2\)"):
        layer(x, positions=torch.zeros(5, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="takes no context"):
        layer(x, x)
    with pytest.raises(ValueError, match="rotary is made for head_dim=6, the heads are 7 wide"):
        MultiHeadAttention(14, 2, rotary=RotaryPositions(6))
    with pytest.raises(ValueError, match="positions are for rotary"):
        MultiHeadAttention(14, 2)(torch.randn(2, 5, 14), positions=torch.arange(5))
