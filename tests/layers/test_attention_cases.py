"""Faults that people met in other attention layers, each thread cited: here each must come out right."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import reference
from mirada import Mask, attention, attention_weights
from strategies import DTYPES, close, shared_out


def tensors(*sizes, dtype=torch.float32):
    """A query, a key and a value that ask for gradients: sizes are lead, queries, keys, d, dv."""
    *lead, queries, keys, d, dv = sizes
    return [
        torch.randn(*lead, length, width).to(dtype).requires_grad_()
        for length, width in ((queries, d), (keys, d), (keys, dv))
    ]


def output_and_weights(q, k, v, mask):
    """Both, after seeing that they agree and that every gradient of each is finite."""
    output, weights = attention(q, k, v, mask), attention_weights(q, k, mask)
    close(output, weights @ shared_out(v, q), q.dtype)
    for made, leaves in ((output, (q, k, v)), (weights, (q, k))):
        for gradient in torch.autograd.grad(made.float().square().sum(), leaves):
            assert gradient.isfinite().all()
    return output, weights


# Masks and NaN


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_band_and_padding_together(dtype):
    """pytorch#41508: rows with nobody to look at are zero, and no gradient is NaN."""
    band = (torch.arange(4)[:, None] - torch.arange(4)).abs() <= 1
    mask = Mask.allowed(band) & Mask.padding([4, 2])
    output, weights = output_and_weights(*tensors(2, 3, 4, 4, 5, 7, dtype=dtype), mask)
    assert (weights[1, :, 3] == 0).all()
    assert (output[1, :, 3] == 0).all()
    close(weights[1, :, :3].sum(-1), torch.ones(3, 3), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_head_looks_at_nobody(dtype):
    """pytorch#160064: the same with and without weights."""
    blocked = torch.zeros(3, 5, 5, dtype=torch.bool)
    blocked[1] = True
    output, weights = output_and_weights(*tensors(2, 3, 5, 5, 7, 7, dtype=dtype), Mask.blocked(blocked))
    assert (output[:, 1] == 0).all()
    assert (weights[:, 1] == 0).all()
    close(weights[:, 0::2].sum(-1), torch.ones(2, 2, 5), dtype)


def test_everything_blocked():
    """pytorch#103963: zeros, also where the table says so as a bias."""
    for mask in (
        Mask.blocked(torch.ones(8, 8, dtype=torch.bool)),
        Mask.bias(torch.full((8, 8), -math.inf)),
        Mask.allowed(torch.zeros(1, 8, dtype=torch.bool)),
    ):
        output, weights = output_and_weights(*tensors(2, 3, 8, 8, 5, 7), mask)
        assert (output == 0).all()
        assert (weights == 0).all()


def test_a_float_mask_of_zeros_and_ones_is_refused_or_a_bias_never_both():
    """pytorch#103963: what looks like a yes and a no has to be said with its own constructor."""
    ones = torch.ones(8, 8).triu(1)
    for constructor in (Mask.allowed, Mask.blocked):
        with pytest.raises(TypeError, match=r"Mask\.bias"):
            constructor(ones)
    q, k, v = tensors(8, 8, 5, 7)
    close(attention(q, k, v, Mask.bias(ones)), ((q @ k.T / 5**0.5 + ones).softmax(-1) @ v), torch.float32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_bias_is_added(dtype):
    """pytorch#107084, pytorch#118628: a random float mask is numbers to add, not yes and no."""
    bias = torch.randn(3, 5, 7)
    q, k, v = tensors(2, 3, 5, 7, 11, 13, dtype=dtype)
    output, weights = output_and_weights(q, k, v, Mask.bias(bias))
    close(weights, reference.reference_weights(q, k, reference.table(bias)), dtype)
    close(output, reference.reference_attention(q, k, v, reference.table(bias)), dtype)


def test_a_bias_is_not_divided_by_the_temperature():
    q, k, v = (torch.zeros(1, 2) for _ in range(3))
    q, k, v = torch.zeros(1, 2), torch.zeros(2, 2), torch.eye(2)
    mask = Mask.bias(torch.tensor([[math.log(3), 0.0]]))
    for temperature in (0.1, 1.0, 10.0):
        wanted = torch.tensor([[0.75, 0.25]])
        torch.testing.assert_close(attention_weights(q, k, mask, temperature=temperature), wanted)
        torch.testing.assert_close(attention(q, k, v, mask, temperature=temperature), wanted)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mask", [Mask.causal() & Mask.padding([4], side="left"), Mask.causal()], ids=repr)
def test_low_scores_in_half_precision_with_padding_first(dtype, mask):
    """transformers#17306: scores under -16, the padding first, every number finite."""
    q = torch.full((1, 1, 5, 4), 4.0, dtype=dtype, requires_grad=True)
    k = torch.full((1, 1, 5, 4), -4.0, dtype=dtype, requires_grad=True)  # q · k / √4 = -32
    v = torch.randn(1, 1, 5, 3).to(dtype).requires_grad_()
    output, weights = output_and_weights(q, k, v, mask)
    assert output.isfinite().all()
    assert weights.isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", [-1e8, -1e10, torch.finfo(torch.float32).min])
def test_very_negative_fill_values(dtype, fill):
    """fairseq#3575, apex#1105, flax#982: they work in half precision; only -inf blocks."""
    bias = torch.zeros(5, 5)
    bias[:, 3:] = fill
    bias[4, :] = fill  # nobody else to look at: everybody alike, not nobody
    q, k, v = tensors(2, 3, 5, 5, 7, 7, dtype=dtype)
    output, weights = output_and_weights(q, k, v, Mask.bias(bias))
    assert output.isfinite().all()
    assert (weights[..., :4, 3:] == 0).all()  # e to such a power is 0
    close(weights.double().sum(-1), torch.ones(2, 3, 5), dtype)


def test_three_rows_the_last_looks_at_nobody():
    """equinox#274."""
    mask = Mask.allowed(torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 0]]).bool())
    output, weights = output_and_weights(*tensors(3, 3, 5, 7), mask)
    assert (weights[2] == 0).all()
    assert (output[2] == 0).all()
    assert (weights[:, 2] == 0).all()
    assert (weights[:2, :2] > 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("others", [None, Mask.causal(), Mask.window(2)], ids=repr)
def test_lengths_down_to_zero_in_one_batch(dtype, side, others):
    """pytorch#27968: no NaN anywhere. d2l-ai/d2l-en#2423: a length of 0 is zeros, not an even average."""
    mask = Mask.padding(torch.tensor([5, 3, 1, 0]), side)
    mask = mask if others is None else mask & others
    output, weights = output_and_weights(*tensors(4, 3, 5, 5, 7, 11, dtype=dtype), mask)
    assert output.isfinite().all()
    assert (weights[3] == 0).all()
    assert (output[3] == 0).all()


# Polarity and causality


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_query_after_eight_keys_sees_all_of_them(dtype):
    """pytorch#103082, pytorch#108108, pytorch#144858: the query is the last one, not the first."""
    q, k, v = tensors(2, 3, 1, 8, 5, 7, dtype=dtype)
    output, weights = output_and_weights(q, k, v, Mask.causal())
    assert (weights > 0).all()
    close(output, attention(q, k, v), dtype)


@pytest.mark.parametrize(("queries", "keys"), [(3, 7), (7, 7), (7, 3)])
def test_causal_is_aligned_at_the_end(queries, keys):
    """Whoever has fewer, the last query sees the last key; with more queries the first see nobody."""
    output, weights = output_and_weights(*tensors(2, 3, queries, keys, 5, 7), Mask.causal())
    for i in range(queries):
        seen = i + 1 + keys - queries
        assert (weights[..., i, : max(seen, 0)] > 0).all()
        assert (weights[..., i, max(seen, 0) :] == 0).all()
        assert (output[..., i, :] == 0).all() == (seen <= 0)


def test_the_two_polarities_are_opposites():
    """tensorflow/text#894: neither can pass for the other."""
    table = torch.tensor([[True, False, True], [False, True, True]])
    q, k, _ = tensors(2, 3, 5, 7)
    assert ((attention_weights(q, k, Mask.allowed(table)) > 0) == table).all()
    assert ((attention_weights(q, k, Mask.blocked(table)) > 0) == ~table).all()


# Shapes and paths


def test_columns_padded_in_every_sample():
    """pytorch#97111: nothing is cut off; output and weights keep their full length."""
    output, weights = output_and_weights(*tensors(2, 3, 7, 7, 5, 11), Mask.padding([4, 5]))
    assert output.shape == (2, 3, 7, 11)
    assert weights.shape == (2, 3, 7, 7)


ALL_MASKS = [
    None,
    Mask.causal(),
    Mask.window(2),
    Mask.padding([5, 3]),
    Mask.causal() & Mask.padding([0, 4], side="left"),
    Mask.allowed(torch.eye(5, dtype=torch.bool)),
    Mask.bias(torch.arange(5.0)),
]


@pytest.mark.parametrize("mask", ALL_MASKS, ids=repr)
@pytest.mark.parametrize("heads", [1, 3, 5])
@pytest.mark.parametrize(("d", "dv"), [(6, 6), (1, 1), (7, 3), (3, 7)])
@pytest.mark.parametrize("strided", [False, True])
def test_any_number_of_heads_and_any_width(mask, heads, d, dv, strided):
    """pytorch#97128, pytorch#176559, LLMs-from-scratch#857: odd sizes, and widths that differ."""
    q, k, v = tensors(2, heads, 5, 5, d, dv)
    if strided:  # the same numbers, laid out otherwise
        q, k, v = (x.detach().mT.contiguous().mT.requires_grad_() for x in (q, k, v))
    output, weights = output_and_weights(q, k, v, mask)
    assert output.shape == (2, heads, 5, dv)
    assert weights.shape == (2, heads, 5, 5)  # pytorch#34537: each head's own, never their average


@pytest.mark.parametrize(
    "mask", [None, Mask.causal(), Mask.window(2), Mask.causal() & Mask.window(3)], ids=repr
)
@pytest.mark.parametrize("sizes", [(0, 3, 5, 7), (2, 0, 5, 7), (2, 3, 0, 7), (2, 3, 5, 0), (2, 3, 0, 0)])
def test_empty_inputs(mask, sizes):
    """pytorch#192651: an empty output of the right shape; where only keys are missing, zeros."""
    batch, heads, queries, keys = sizes
    table = Mask.allowed(torch.ones(heads, queries, keys, dtype=torch.bool))
    for also in (mask, Mask.padding(torch.zeros(batch, dtype=torch.long)), table):
        both = also if mask is None or also is None else mask & also
        q, k, v = tensors(batch, heads, queries, keys, 5, 11)
        output, weights = output_and_weights(q, k, v, both)
        assert output.shape == (batch, heads, queries, 11)
        assert weights.shape == (batch, heads, queries, keys)
        if keys == 0:
            assert (output == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("mask", ALL_MASKS, ids=repr)
def test_values_of_256_with_wide_heads(dtype, dropout, mask):
    """ultralytics#24990, mistral-inference#66: 256² · 128 is no float16 number; scores are float32."""
    q, k, v = (torch.full((2, 2, 5, 128), 256.0, dtype=dtype, requires_grad=True) for _ in range(3))
    output = attention(q, k, v, mask, dropout=dropout)
    assert output.isfinite().all()
    assert attention_weights(q, k, mask).isfinite().all()
    if not dropout:
        seen = attention_weights(q, k, mask).sum(-1, keepdim=True) > 0
        close(output / 256, seen.expand_as(output).float(), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", ALL_MASKS, ids=repr)
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_grouped_heads_are_keys_repeated_one_by_one(dtype, mask, groups):
    """grouped-query-attention-pytorch#5, jax-js#180, flash-linear-attention#1029: head h, key h // group."""
    q, k, v = (x.detach() for x in tensors(2, 6, 5, 5, 7, 3, dtype=dtype))
    k, v = k[:, :groups], v[:, :groups]
    wide_k, wide_v = (x.repeat_interleave(6 // groups, dim=1) for x in (k, v))
    close(attention(q, k, v, mask), attention(q, wide_k, wide_v, mask), dtype)
    close(attention_weights(q, k, mask), attention_weights(q, wide_k, mask), dtype)


def test_under_autocast():
    """What autocast hands over, half precision or not, gives the same on both paths."""
    q, k, v = tensors(2, 4, 5, 5, 7, 3)
    with torch.autocast("cpu", torch.bfloat16):
        for mask in ALL_MASKS:
            close(attention(q, k, v, mask), attention_weights(q, k, mask) @ v, torch.bfloat16)


class Kernels(TorchDispatchMode):
    """Notes the names of all that torch runs."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func._schema.name)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("mask", ALL_MASKS, ids=repr)
@pytest.mark.parametrize("lead", [(2,), (2, 3), (2, 1, 3), (2, 3, 1, 1)])
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("dv", [3, 7, 11])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_fused_kernel_is_the_one_that_runs(mask, lead, strided, dv, dtype):
    """PyTorch leaves it, in silence, for three dimensions, two widths, or rows that are not in one piece."""
    q, k, v = tensors(*lead, 5, 5, 7, dv, dtype=dtype)
    if strided:
        q, k, v = (x.detach().mT.contiguous().mT.requires_grad_() for x in (q, k, v))
    with Kernels() as kernels:
        attention(q, k, v, mask)
    assert "aten::_scaled_dot_product_flash_attention_for_cpu" in kernels.names
    assert not [name for name in kernels.names if "softmax" in name or "mm" in name]
