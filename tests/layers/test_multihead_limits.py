"""MultiHeadAttention at its limits: nobody to look at, nothing to read, dropout, bad input."""

import copy
import math

import pytest
import torch
from examples import D_MODEL, LAYERS, layer_of
from torch import nn

from mirada import Mask, MultiHeadAttention


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("side", ["left", "right"])
def test_lengths_down_to_nothing_give_no_nan(side, dtype):
    # pytorch#27968 (lengths 5, 3, 1, 0), pytorch#41508 (gradients), d2l-en#2423 (length 0: no average).
    torch.manual_seed(0)
    layer = MultiHeadAttention(14, 2, dtype=dtype)
    x = torch.randn(4, 5, 14, dtype=dtype, requires_grad=True)
    mask = Mask.causal() & Mask.padding(torch.tensor([5, 3, 1, 0]), side=side)
    output, weights = layer(x, mask=mask), layer.weights(x, mask=mask)
    assert output.isfinite().all()
    assert (weights[3] == 0).all()
    assert (output[3] == layer.output_proj.bias).all()
    (output.square().sum() + weights.square().sum()).backward()
    for leaf in (x, *layer.parameters()):
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()
    assert (x.grad[3] == 0).all()  # nobody looked, so nothing that stands there matters


def test_all_samples_may_end_in_padding():
    # pytorch#97111: the last columns padded in every sample: the output keeps its length.
    layer, x = MultiHeadAttention(14, 2).eval(), torch.randn(3, 7, 14)
    with torch.no_grad():
        output = layer(x, mask=Mask.padding(torch.tensor([4, 5, 2])))
    assert output.shape == x.shape


@pytest.mark.parametrize("filling", [1e10, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["self", "cross, same width", "cross, own width"])
def test_what_the_padding_holds_reaches_neither_output_nor_gradient(name, filling):
    # pytorch#64525
    layer, x, context = layer_of(name)
    seen = x if context is None else context
    lengths = torch.tensor([3, seen.shape[1], 1])

    def run(content):
        filled = seen.clone()
        filled[0, 3:] = content
        filled.requires_grad_()
        layer.zero_grad()
        given = (filled,) if context is None else (x, filled)
        mask = Mask.padding(lengths)
        output, weights = layer(*given, mask=mask), layer.weights(*given, mask=mask)
        if context is None:  # what stands behind the end also asks, and nobody reads its answer
            output, weights = output[:, :3], weights[:, :, :3]
        (output.square().sum() + weights.square().sum()).backward()
        gradients = [p.grad.clone() for p in layer.parameters()]
        return output.detach(), weights.detach(), filled.grad[0, :3], filled.grad[1:], *gradients

    for one, other in zip(run(filling), run(0.0), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("batch", "length"), [(0, 5), (2, 0), (0, 0)])
def test_empty_input(batch, length):
    # pytorch#192651
    layer = MultiHeadAttention(14, 2, num_kv_heads=1)
    x = torch.randn(batch, length, 14, requires_grad=True)
    for mask in (None, Mask.causal(), Mask.padding(torch.full((batch,), length))):
        output, weights = layer(x, mask=mask), layer.weights(x, mask=mask)
        assert output.shape == (batch, length, 14)
        assert weights.shape == (batch, 2, length, length)
        (output.sum() + weights.sum()).backward()


def test_an_empty_context_leaves_only_the_bias():
    layer = MultiHeadAttention(14, 2, d_context=3)
    x, context = torch.randn(2, 5, 14), torch.randn(2, 0, 3)
    torch.testing.assert_close(layer(x, context), layer.output_proj.bias.expand(2, 5, 14), rtol=0, atol=0)
    assert layer.weights(x, context).shape == (2, 2, 5, 0)


def test_dropout_is_for_training_and_never_in_the_weights():
    # pytorch#42929: the weights reported are those before dropout.
    torch.manual_seed(0)
    layer = MultiHeadAttention(14, 2, dropout=0.5, dtype=torch.float64)
    x = torch.randn(2, 11, 14, dtype=torch.float64)
    layer.eval()
    calm, weights = layer(x), layer.weights(x)
    assert torch.equal(calm, layer(x))
    layer.train()
    torch.testing.assert_close(layer.weights(x), weights, rtol=0, atol=0)
    assert not torch.allclose(layer(x), calm)
    mean = sum(layer(x).detach() for _ in range(4000)) / 4000  # dropped looks are made up for by the others
    torch.testing.assert_close(mean, calm.detach(), rtol=0, atol=0.02)


def test_large_values_in_half_precision_stay_finite():
    # ultralytics#24990, mistral#66: values of size 256, head_dim 128, float16: scores belong in float32.
    torch.manual_seed(0)
    layer = MultiHeadAttention(128, 1, dtype=torch.float16)
    with torch.no_grad():
        layer.qkv_proj.weight.copy_(torch.cat([torch.eye(128)] * 3))
        layer.output_proj.weight.copy_(torch.eye(128))
        x = 256 * torch.randn(1, 5, 128, dtype=torch.float16).sign()
        weights, output = layer.weights(x), layer(x)
    assert weights.isfinite().all()
    assert output.isfinite().all()
    torch.testing.assert_close(weights.argmax(-1)[0, 0], torch.arange(5))


@pytest.mark.parametrize("name", LAYERS)
def test_copies_and_saved_values_are_the_same_layer(name):
    layer, x, context = layer_of(name)
    other = MultiHeadAttention(D_MODEL, **LAYERS[name][0], dtype=torch.float64)
    assert not torch.equal(other(x, context), layer(x, context))
    other.load_state_dict(layer.state_dict())
    for twin in (other, copy.deepcopy(layer)):
        assert torch.equal(twin(x, context), layer(x, context))


def test_built_on_meta_and_filled_later():
    layer, x, _ = layer_of("self, grouped")
    options = LAYERS["self, grouped"][0]
    empty = MultiHeadAttention(D_MODEL, **options, device="meta", dtype=torch.float64)
    assert all(p.is_meta and p.dtype == torch.float64 for p in empty.parameters())
    assert empty(x.to("meta"), mask=Mask.causal()).shape == x.shape
    empty.to_empty(device="cpu").load_state_dict(layer.state_dict())
    assert torch.equal(empty(x), layer(x))


def test_starts_as_any_linear_does():
    torch.manual_seed(11)
    layer = MultiHeadAttention(14, 2)
    torch.manual_seed(11)
    qkv, output = nn.Linear(14, 42), nn.Linear(14, 14)
    assert torch.equal(layer.qkv_proj.weight, qkv.weight)
    assert torch.equal(layer.output_proj.bias, output.bias)


@pytest.mark.parametrize(
    ("sizes", "options", "says"),
    [
        ((14, 3), {}, "d_model=14 .*num_heads=3.*head_dim"),
        ((0, 1), {}, "d_model must be at least 1, but is 0"),
        ((14, 0), {}, "num_heads must be at least 1"),
        ((14, 7), {"num_kv_heads": 3}, "num_kv_heads=3 must divide num_heads=7"),
        ((14, 7), {"num_kv_heads": 0}, "num_kv_heads must be at least 1"),
        ((14, 7), {"head_dim": 0}, "head_dim must be at least 1"),
        ((14, 7), {"d_context": 0}, "d_context must be at least 1"),
        ((14, 7), {"dropout": 1.5}, "dropout must be a share, from 0 to 1, but is 1.5"),
    ],
)
def test_sizes_that_do_not_fit(sizes, options, says):
    with pytest.raises(ValueError, match=says):
        MultiHeadAttention(*sizes, **options)


@pytest.mark.parametrize(
    ("options", "shapes", "says"),
    [
        ({}, [(5, 14)], r"x must be \(batch, length, d_model=14\), but is \(5, 14\)"),
        ({}, [(2, 5, 13)], r"d_model=14.*\(2, 5, 13\)"),
        # pytorch#64888: batch 1 against batch 4 is no broadcast
        ({}, [(4, 5, 14), (1, 7, 14)], r"context must be \(batch=4, keys, d_context=14\).*\(1, 7, 14\)"),
        ({"d_context": 3}, [(2, 5, 14), (2, 7, 14)], r"d_context=3\).*\(2, 7, 14\)"),
        ({"d_context": 3}, [(2, 5, 14), (2, 3)], r"d_context=3\).*\(2, 3\)"),
        ({"d_context": 3}, [(2, 5, 14)], "looks at a context of width d_context=3: give it one"),
    ],
)
def test_inputs_that_do_not_fit(options, shapes, says):
    layer = MultiHeadAttention(14, 2, **options)
    for call in (layer, layer.weights):
        with pytest.raises(ValueError, match=says):
            call(*(torch.randn(shape) for shape in shapes))


def test_a_mask_of_another_shape_and_a_bare_tensor():
    layer, x = MultiHeadAttention(14, 2), torch.randn(2, 5, 14)
    with pytest.raises(ValueError, match=r"Mask\.allowed .*\(5, 3\)"):
        layer(x, mask=Mask.allowed(torch.ones(5, 3, dtype=torch.bool)))
    with pytest.raises(TypeError, match=r"Mask\.allowed.*Mask\.blocked"):
        layer(x, mask=torch.ones(5, 5, dtype=torch.bool))


def test_says_what_it_is():
    assert "num_heads=7, num_kv_heads=1, head_dim=2" in repr(MultiHeadAttention(14, 7, num_kv_heads=1))
