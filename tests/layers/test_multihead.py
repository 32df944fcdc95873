"""MultiHeadAttention against loops over its heads, against PyTorch's layer, and against itself."""

import loops
import pytest
import torch
from examples import BATCH, CLOSE, D_MODEL, EXACT, KEYS, KINDS, LAYERS, LENGTH, NEVER, layer_of, mask_and_bias
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mirada import Mask, MultiHeadAttention


def through_the_table(layer, x, context, mask, weights=None):
    """The output by way of the weights, from the layer's own parameters: what `forward` never builds."""
    kv = layer.num_kv_heads * layer.head_dim
    joint = layer.qkv_proj if hasattr(layer, "qkv_proj") else layer.kv_proj
    values = nn.functional.linear(
        x if context is None else context,
        joint.weight[-kv:],
        None if joint.bias is None else joint.bias[-kv:],
    )
    values = values.reshape(*values.shape[:2], layer.num_kv_heads, layer.head_dim).transpose(1, 2)
    values = values.repeat_interleave(layer.num_heads // layer.num_kv_heads, dim=1)
    weights = layer.weights(x, context, mask) if weights is None else weights
    return layer.output_proj((weights @ values).transpose(1, 2).reshape(*x.shape[:2], -1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_equals_a_loop_over_the_heads(name, kind):
    # FuxiCTR#30: heads split without the transpose. grouped-query-attention-pytorch#5, jax-js#180: a group
    # is consecutive heads. pytorch#97128: no bias, an odd number of heads. pytorch#34537: weights of each
    # head, never an average.
    layer, x, context = layer_of(name)
    mask, bias = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    weights, output = loops.multihead(layer, x, context, bias)
    torch.testing.assert_close(layer.weights(x, context, mask), weights, **EXACT)
    torch.testing.assert_close(layer(x, context, mask), output, **EXACT)


@pytest.mark.parametrize("kind", ["none", "causal", "causal and padding", "bias"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["self", "self, grouped", "cross, same width", "cross, own width"])
def test_equals_the_loop_in_every_dtype(name, dtype, kind):
    layer, x, context = layer_of(name, dtype)
    mask, bias = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    weights, output = loops.multihead(layer, x, context, bias)
    got, seen = layer(x, context, mask), layer.weights(x, context, mask)
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), output, **CLOSE[dtype])
    torch.testing.assert_close(seen.double(), weights, **CLOSE[dtype])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_fused_path_and_table_path_agree_with_their_gradients(name, kind):
    layer, x, context = layer_of(name)
    mask, _ = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    leaves = [x, *([] if context is None else [context])]
    for leaf in leaves:
        leaf.requires_grad_()
    leaves += layer.parameters()
    aim = torch.randn(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    fused, table = layer(x, context, mask), through_the_table(layer, x, context, mask)
    torch.testing.assert_close(fused, table, **EXACT)
    for one, other in zip(
        torch.autograd.grad((fused * aim).sum(), leaves),
        torch.autograd.grad((table * aim).sum(), leaves),
        strict=True,
    ):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, **EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_without_gradients_are_the_same(kind):
    layer, x, _ = layer_of("self, grouped")
    mask, _ = mask_and_bias(kind, LENGTH, LENGTH)
    expected = layer.weights(x, mask=mask)
    with torch.no_grad():  # then the table is written over the scores, but not under torch.func
        torch.testing.assert_close(layer.weights(x, mask=mask), expected, rtol=0, atol=0)
        each = torch.func.vmap(lambda sample: layer.weights(sample[None])[0])(x)
    torch.testing.assert_close(each, layer.weights(x), **EXACT)


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "bias"])
@pytest.mark.parametrize("name", ["self, grouped", "cross, same width", "cross, own width"])
def test_gradcheck(name, kind):
    layer, x, context = layer_of(name)
    mask, _ = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    inputs = [t.requires_grad_() for t in (x, context) if t is not None]
    assert torch.autograd.gradcheck(
        lambda *given: layer(given[0], *given[1:], mask=mask), inputs, fast_mode=True
    )


@pytest.mark.parametrize("name", LAYERS)
def test_every_parameter_gets_a_gradient(name):
    # pytorch#26698: cross-attention with another key width left parameters without one.
    layer, x, context = layer_of(name)
    layer(x, context).square().sum().backward()
    for parameter, value in layer.named_parameters():
        if not parameter.endswith(
            "bias"
        ):  # a key's bias shifts all scores of a row alike: it changes nothing
            assert value.grad is not None, parameter
            assert (value.grad != 0).any(dim=1).all(), parameter
        else:
            assert value.grad is not None
            assert value.grad.isfinite().all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("context_width", [None, 15])
def test_equals_torch_with_the_same_values(context_width, bias, causal):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(15, 3, bias=bias, batch_first=True, dtype=torch.float64)
    ours = MultiHeadAttention(15, 3, bias=bias, dtype=torch.float64)
    with torch.no_grad():
        ours.qkv_proj.weight.copy_(theirs.in_proj_weight)
        ours.output_proj.weight.copy_(theirs.out_proj.weight)
        if bias:
            ours.qkv_proj.bias.copy_(theirs.in_proj_bias.normal_())
            ours.output_proj.bias.copy_(theirs.out_proj.bias.normal_())
    x = torch.randn(2, 7, 15, dtype=torch.float64)
    context = None if context_width is None else torch.randn(2, 7, 15, dtype=torch.float64)
    seen = x if context is None else context
    blocked = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else None
    output, weights = theirs(x, seen, seen, attn_mask=blocked, average_attn_weights=False)
    mask = Mask.causal() if causal else None
    torch.testing.assert_close(ours(x, context, mask), output, **EXACT)
    torch.testing.assert_close(ours.weights(x, context, mask), weights, **EXACT)


def test_equals_torch_with_a_context_of_another_width():
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(15, 3, kdim=11, vdim=11, batch_first=True, dtype=torch.float64)
    ours = MultiHeadAttention(15, 3, d_context=11, dtype=torch.float64)
    with torch.no_grad():
        ours.query_proj.weight.copy_(theirs.q_proj_weight)
        ours.kv_proj.weight.copy_(torch.cat([theirs.k_proj_weight, theirs.v_proj_weight]))
        ours.query_proj.bias.copy_(theirs.in_proj_bias[:15])
        ours.kv_proj.bias.copy_(theirs.in_proj_bias[15:])
        ours.output_proj.load_state_dict(theirs.out_proj.state_dict())
    x, context = torch.randn(2, 5, 15).double(), torch.randn(2, 7, 11).double()
    output, weights = theirs(x, context, context, average_attn_weights=False)
    torch.testing.assert_close(ours(x, context), output, **EXACT)
    torch.testing.assert_close(ours.weights(x, context), weights, **EXACT)


def test_the_shapes_of_the_lesson():
    layer, x = MultiHeadAttention(16, 4), torch.randn(2, 5, 16)
    assert layer(x).shape == (2, 5, 16)
    assert layer.weights(x).shape == (2, 4, 5, 5)
    assert [tuple(p.shape) for p in layer.parameters()] == [(48, 16), (48,), (16, 16), (16,)]


def test_any_head_dim():
    # pytorch#176559: d_model 96 with 16 heads, 6 numbers each.
    layer, x = MultiHeadAttention(96, 16, dtype=torch.float64), torch.randn(2, 3, 96).double()
    weights, output = loops.multihead(layer, x)
    torch.testing.assert_close(layer(x), output, **EXACT)
    torch.testing.assert_close(layer.weights(x), weights, **EXACT)


def test_order_blindness():
    # Without positions a sentence is a bag: read backwards, the output comes out backwards.
    layer, x, _ = layer_of("self", torch.float32)
    torch.testing.assert_close(layer(x.flip(1)), layer(x).flip(1), rtol=0, atol=1e-6)


@given(
    batch=st.integers(1, 3),
    length=st.integers(1, 7),
    keys=st.integers(1, 7),
    groups=st.integers(1, 3),
    each=st.integers(1, 3),
    head_dim=st.integers(1, 5),
    cross=st.booleans(),
    causal=st.booleans(),
    window=st.one_of(st.none(), st.integers(1, 4)),
    padded=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_every_shape_and_mask(
    batch, length, keys, groups, each, head_dim, cross, causal, window, padded, seed
):
    torch.manual_seed(seed)
    keys = keys if cross else length
    layer = MultiHeadAttention(
        7, groups * each, num_kv_heads=groups, head_dim=head_dim, d_context=3 if cross else None
    ).double()
    x = torch.randn(batch, length, 7, dtype=torch.float64)
    context = torch.randn(batch, keys, 3, dtype=torch.float64) if cross else None
    parts, bias = [], torch.zeros(batch, length, keys, dtype=torch.float64)
    if causal:
        parts.append(Mask.causal())
        bias += torch.full((length, keys), NEVER).triu(1 + keys - length)
    if window is not None:
        parts.append(Mask.window(window))
        apart = torch.arange(length)[:, None] + keys - length - torch.arange(keys)
        bias[:, apart.abs() >= window] = NEVER
    if padded:
        lengths = torch.randint(0, keys + 1, (batch,))
        parts.append(Mask.padding(lengths))
        for b in range(batch):
            bias[b, :, lengths[b] :] = NEVER
    mask = None
    for part in parts:
        mask = part if mask is None else mask & part
    weights, output = loops.multihead(layer, x, context, bias)
    got = layer.weights(x, context, mask)
    torch.testing.assert_close(got, weights, **EXACT)
    torch.testing.assert_close(layer(x, context, mask), output, **EXACT)
    assert (got[(bias == NEVER)[:, None].expand_as(got)] == 0).all()
    sums = got.sum(-1)
    assert torch.isclose(sums, (sums > 0.5).double(), rtol=0, atol=1e-12).all()  # one, or nobody to look at
