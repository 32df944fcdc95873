"""MultiHeadAttention against loops over its heads, against PyTorch's layer, and against itself."""

import copy
import math

import loops
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mirada import Mask, MultiHeadAttention

NEVER = -math.inf
# Every size is another prime, so that no two axes can be mistaken for each other (LLMs-from-scratch#857).
BATCH, LENGTH, KEYS, D_MODEL, D_CONTEXT = 2, 5, 7, 13, 17

LAYERS = {
    "self": ({"num_heads": 3, "head_dim": 11}, None),
    "self, no bias": ({"num_heads": 3, "head_dim": 11, "bias": False}, None),
    "self, grouped": ({"num_heads": 6, "num_kv_heads": 2, "head_dim": 5}, None),
    "self, one key head": ({"num_heads": 3, "num_kv_heads": 1, "head_dim": 11}, None),
    "self, one head": ({"num_heads": 1}, None),
    "cross, same width": ({"num_heads": 3, "head_dim": 11}, D_MODEL),
    "cross, same width, grouped, no bias": (
        {"num_heads": 6, "num_kv_heads": 2, "head_dim": 5, "bias": False},
        D_MODEL,
    ),
    "cross, own width": ({"num_heads": 3, "head_dim": 11, "d_context": D_CONTEXT}, D_CONTEXT),
    "cross, own width, grouped": (
        {"num_heads": 6, "num_kv_heads": 3, "head_dim": 5, "d_context": D_CONTEXT},
        D_CONTEXT,
    ),
}
# A few roundings of numbers of size one: the inputs of each step are rounded to the dtype, sums are not.
CLOSE = {
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
    torch.float32: {"rtol": 1e-5, "atol": 1e-6},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}


def build(name, dtype=torch.float64):
    """The layer, x and the context of a row of LAYERS."""
    options, d_context = LAYERS[name]
    torch.manual_seed(3)
    layer = MultiHeadAttention(D_MODEL, **options, dtype=dtype)
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=dtype)
    context = None if d_context is None else torch.randn(BATCH, KEYS, d_context, dtype=dtype)
    return layer, x, context


def mask_and_bias(kind, queries, keys):
    """A mask, and what it means as a table (batch, queries, keys) that is added to the scores."""
    bias = torch.zeros(BATCH, queries, keys, dtype=torch.float64)
    last = keys - queries  # the queries are the last ones
    lengths = torch.tensor([keys - 2, keys])
    table = torch.rand(queries, keys, generator=torch.Generator().manual_seed(5)) < 0.5
    added = torch.randn(queries, keys, generator=torch.Generator().manual_seed(7))
    added[1, 2] = NEVER
    if kind == "none":
        return None, None
    for i in range(queries):
        for j in range(keys):
            for b in range(BATCH):
                banned = {
                    "causal": j > i + last,
                    "padding": j >= lengths[b],
                    "left padding": j < keys - lengths[b],
                    "causal window": j > i + last or abs(i + last - j) >= 2,
                    "causal and padding": j > i + last or j >= lengths[b],
                    "allowed": not table[i, j],
                    "blocked": bool(table[i, j]),
                    "nobody": True,
                    "bias": False,
                }[kind]
                bias[b, i, j] = NEVER if banned else (added[i, j].item() if kind == "bias" else 0.0)
    mask = {
        "causal": lambda: Mask.causal(),
        "padding": lambda: Mask.padding(lengths),
        "left padding": lambda: Mask.padding(lengths, side="left"),
        "causal window": lambda: Mask.causal() & Mask.window(2),
        "causal and padding": lambda: Mask.causal() & Mask.padding(lengths),
        "allowed": lambda: Mask.allowed(table),
        "blocked": lambda: Mask.blocked(table),
        "nobody": lambda: Mask.blocked(torch.ones(queries, keys, dtype=torch.bool)),
        "bias": lambda: Mask.bias(added),
    }[kind]()
    return mask, bias


KINDS = [
    "none",
    "causal",
    "padding",
    "left padding",
    "causal window",
    "causal and padding",
    "allowed",
    "blocked",
    "nobody",
    "bias",
]


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
    layer, x, context = build(name)
    mask, bias = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    weights, output = loops.multihead(layer, x, context, bias)
    torch.testing.assert_close(layer.weights(x, context, mask), weights, **CLOSE[torch.float64])
    torch.testing.assert_close(layer(x, context, mask), output, **CLOSE[torch.float64])


@pytest.mark.parametrize("kind", ["none", "causal", "causal and padding", "bias"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["self", "self, grouped", "cross, same width", "cross, own width"])
def test_equals_the_loop_in_every_dtype(name, dtype, kind):
    layer, x, context = build(name, dtype)
    mask, bias = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    weights, output = loops.multihead(layer, x, context, bias)
    got, seen = layer(x, context, mask), layer.weights(x, context, mask)
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), output, **CLOSE[dtype])
    torch.testing.assert_close(seen.double(), weights, **CLOSE[dtype])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_fused_path_and_table_path_agree_with_their_gradients(name, kind):
    layer, x, context = build(name)
    mask, _ = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    leaves = [x, *([] if context is None else [context])]
    for leaf in leaves:
        leaf.requires_grad_()
    leaves += layer.parameters()
    aim = torch.randn(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    fused, table = layer(x, context, mask), through_the_table(layer, x, context, mask)
    torch.testing.assert_close(fused, table, **CLOSE[torch.float64])
    for one, other in zip(
        torch.autograd.grad((fused * aim).sum(), leaves),
        torch.autograd.grad((table * aim).sum(), leaves),
        strict=True,
    ):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, **CLOSE[torch.float64])


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "bias"])
@pytest.mark.parametrize("name", ["self, grouped", "cross, same width", "cross, own width"])
def test_gradcheck(name, kind):
    layer, x, context = build(name)
    mask, _ = mask_and_bias(kind, LENGTH, LENGTH if context is None else KEYS)
    inputs = [t.requires_grad_() for t in (x, context) if t is not None]
    assert torch.autograd.gradcheck(
        lambda *given: layer(given[0], *given[1:], mask=mask), inputs, fast_mode=True
    )


@pytest.mark.parametrize("name", LAYERS)
def test_every_parameter_gets_a_gradient(name):
    # pytorch#26698: cross-attention with another key width left parameters without one.
    layer, x, context = build(name)
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
    torch.testing.assert_close(ours(x, context, mask), output, **CLOSE[torch.float64])
    torch.testing.assert_close(ours.weights(x, context, mask), weights, **CLOSE[torch.float64])


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
    torch.testing.assert_close(ours(x, context), output, **CLOSE[torch.float64])
    torch.testing.assert_close(ours.weights(x, context), weights, **CLOSE[torch.float64])


def test_the_shapes_of_the_lesson():
    layer, x = MultiHeadAttention(16, 4), torch.randn(2, 5, 16)
    assert layer(x).shape == (2, 5, 16)
    assert layer.weights(x).shape == (2, 4, 5, 5)
    assert [tuple(p.shape) for p in layer.parameters()] == [(48, 16), (48,), (16, 16), (16,)]


def test_any_head_dim():
    # pytorch#176559: d_model 96 with 16 heads, 6 numbers each.
    layer, x = MultiHeadAttention(96, 16, dtype=torch.float64), torch.randn(2, 3, 96).double()
    weights, output = loops.multihead(layer, x)
    torch.testing.assert_close(layer(x), output, **CLOSE[torch.float64])
    torch.testing.assert_close(layer.weights(x), weights, **CLOSE[torch.float64])


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
    layer, x, context = build(name)
    seen = x if context is None else context
    lengths = torch.tensor([3, seen.shape[1]])

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
        return output.detach(), weights.detach(), filled.grad[0, :3], filled.grad[1], *gradients

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


def test_order_blindness():
    # Without positions a sentence is a bag: read backwards, the output comes out backwards.
    layer, x, _ = build("self", torch.float32)
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
    torch.testing.assert_close(got, weights, **CLOSE[torch.float64])
    torch.testing.assert_close(layer(x, context, mask), output, **CLOSE[torch.float64])
    assert (got[(bias == NEVER)[:, None].expand_as(got)] == 0).all()
    sums = got.sum(-1)
    assert torch.isclose(sums, (sums > 0.5).double(), rtol=0, atol=1e-12).all()  # one, or nobody to look at


@pytest.mark.parametrize("name", LAYERS)
def test_copies_and_saved_values_are_the_same_layer(name):
    layer, x, context = build(name)
    other = MultiHeadAttention(D_MODEL, **LAYERS[name][0], dtype=torch.float64)
    assert not torch.equal(other(x, context), layer(x, context))
    other.load_state_dict(layer.state_dict())
    for twin in (other, copy.deepcopy(layer)):
        assert torch.equal(twin(x, context), layer(x, context))


def test_built_on_meta_and_filled_later():
    layer, x, _ = build("self, grouped")
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
