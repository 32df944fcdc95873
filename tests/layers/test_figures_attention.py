"""The figures that the lesson prints about attention, masks and temperature, each from our own functions."""

import json
import math
from pathlib import Path

import pytest
import torch

from mirada import Mask, attention, attention_weights

FACTS = json.loads((Path(__file__).parents[1] / "facts.json").read_text(encoding="utf-8"))


def rounded(tensor, decimals=2):
    return [[round(x, decimals) for x in row] for row in tensor.tolist()]


def test_by_hand():
    fact = FACTS["by_hand"]
    q, k, v = (torch.tensor(fact[name], dtype=torch.float64) for name in "QKV")
    assert (q @ k.T)[0].tolist() == fact["products_of_row_1"]
    assert rounded(q @ k.T / math.sqrt(2), fact["decimals"]) == fact["scores_over_sqrt2"]
    assert rounded(attention_weights(q, k), fact["decimals"]) == fact["weights"]
    assert rounded(attention(q, k, v), fact["decimals"]) == fact["output"]


def test_why_sqrt_d():
    fact = FACTS["why_sqrt_d"]
    torch.manual_seed(0)
    for row in fact["rows"]:
        d = row["d"]
        q, k = torch.randn(1000, d), torch.randn(8, d)
        products = q @ k.T
        assert round(products.std().item(), 1) == row["std"]
        assert round((products / math.sqrt(d)).std().item(), 2) == row["std_scaled"]
        # Without the root: a temperature that undoes it.
        raw, scaled = attention_weights(q, k, temperature=1 / math.sqrt(d)), attention_weights(q, k)
        assert round(raw.amax(-1).mean().item(), 2) == row["max_weight"]
        assert round(scaled.amax(-1).mean().item(), 2) == row["max_weight_scaled"]
    # The last ones, of 512: how much the weights still answer to the scores.
    norms = {}
    for name, weights in (("raw", raw), ("scaled", scaled)):
        jacobian = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
        norms[name] = jacobian.flatten(1).norm(dim=1).median().item()
    print(norms)
    assert float(f"{norms['raw']:.0e}") == fact["softmax_jacobian_median_norm_at_512"]["raw"]
    assert round(norms["scaled"], 3) == fact["softmax_jacobian_median_norm_at_512"]["scaled"]


@pytest.mark.parametrize("temperature", FACTS["temperature"]["weights"])
def test_temperature(temperature):
    """One query of width 1 that is 1: its scores are the keys themselves."""
    fact = FACTS["temperature"]
    keys = torch.tensor(fact["scores"], dtype=torch.float64)[:, None]
    query = torch.ones(1, 1, dtype=torch.float64)
    weights = attention_weights(query, keys, temperature=float(temperature))
    assert rounded(weights) == [fact["weights"][temperature]]
    assert weights[0].argsort(descending=True).tolist() == [0, 1, 2, 3]  # the order never changes
    output = attention(query, keys, torch.eye(4, dtype=torch.float64), temperature=float(temperature))
    assert rounded(output) == [fact["weights"][temperature]]


def test_batched_shapes():
    fact = FACTS["batched_shapes"]
    q, k, v = (torch.randn(fact["q_k_v"]) for _ in range(3))
    assert list(attention(q, k, v).shape) == fact["output"]
    assert list(attention_weights(q, k).shape) == fact["weights"]


def test_causal():
    fact = FACTS["causal"]
    torch.manual_seed(1)
    q = torch.randn(5, 8)
    k = torch.randn(5, 8)
    blocked = torch.tensor(fact["blocked"]).bool()
    assert torch.equal(Mask.causal().to_tensor(5, 5), ~blocked)
    for mask in (Mask.causal(), Mask.blocked(blocked)):
        assert rounded(attention_weights(q, k, mask)) == fact["weights"]
        torch.testing.assert_close(attention(q, k, k, mask), attention_weights(q, k, mask) @ k)


def test_order_blindness():
    """Without positions a reversed sequence gives the reversed output."""
    assert "reversed" in FACTS["order_blindness"]
    x = torch.randn(2, 3, 11, 7)
    back = x.flip(-2)
    torch.testing.assert_close(attention(back, back, back), attention(x, x, x).flip(-2), rtol=0, atol=1e-6)
    weights = attention_weights(x, x)
    torch.testing.assert_close(attention_weights(back, back), weights.flip(-1, -2), rtol=0, atol=1e-6)
