"""TransformerBlock against loops, against PyTorch's layers, and against what must never change it."""

import copy
import math

import loops
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mirada import BlockConfig, KVCache, Mask, RotaryPositions, TransformerBlock

BATCH, LENGTH, KEYS, D_MODEL, D_CONTEXT, D_MLP = 3, 5, 7, 14, 11, 23
HEADS = 2
EXACT = {"rtol": 1e-12, "atol": 1e-12}
CLOSE = {
    torch.float64: EXACT,
    torch.float32: {"rtol": 1e-5, "atol": 2e-6},
    torch.float16: {"rtol": 4e-3, "atol": 4e-3},
    torch.bfloat16: {"rtol": 4e-2, "atol": 4e-2},
}
CONFIGS = {
    "default": BlockConfig(),
    "post-norm": BlockConfig(norm_first=False),
    "gelu, no bias": BlockConfig(activation="gelu", bias=False),
    "gelu tanh, eps": BlockConfig(activation="gelu_tanh", eps=1e-2),
    "rms, gated, grouped": BlockConfig(
        norm="rms", activation="swiglu", bias=False, num_kv_heads=1, head_dim=6, rotary=RotaryPositions(6)
    ),
    "cross": BlockConfig(cross_attention=True),
    "cross, own width, post-norm": BlockConfig(cross_attention=True, d_context=D_CONTEXT, norm_first=False),
}


def build(config, dtype=torch.float64, seed=3):
    """A block whose norms are not the identity, x, and a context where it wants one."""
    torch.manual_seed(seed)
    block = TransformerBlock(D_MODEL, HEADS, D_MLP, config, dtype=dtype)
    with torch.no_grad():
        for name, parameter in block.named_parameters():
            if name.startswith("norm"):
                parameter.add_(0.3 * torch.randn_like(parameter))
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=dtype)
    context = None
    if config.cross_attention:
        context = torch.randn(BATCH, KEYS, config.d_context or D_MODEL, dtype=dtype)
    return block, x, context


def by_loops(block, x, context=None, bias=None):
    """The block as sums over plain numbers; its attention layers come from `loops` too."""
    config = block.config
    numbers = {name: p.detach().double().tolist() for name, p in block.named_parameters()}

    def normed(name, rows):
        weight = numbers[f"{name}.weight"]
        if config.norm == "rms":
            return [loops.rms_norm(row, weight, config.eps) for row in rows]
        return [loops.layer_norm(row, weight, numbers.get(f"{name}.bias"), config.eps) for row in rows]

    def mlp(rows):
        def project(name, row):
            return loops.linear(numbers[f"mlp.{name}.weight"], numbers.get(f"mlp.{name}.bias"), row)

        results = []
        for row in rows:
            hidden = project("hidden_proj", row)
            if config.activation == "swiglu":
                gate = [loops.BEND["silu"](g) for g in project("gate_proj", row)]
                hidden = [g * h for g, h in zip(gate, hidden, strict=True)]
            else:
                hidden = [loops.BEND[config.activation](h) for h in hidden]
            results.append(project("output_proj", hidden))
        return results

    def look(layer, samples, seen=None):
        samples = torch.tensor(samples, dtype=torch.float64)
        return loops.multihead(layer, samples, seen, bias if seen is None else None)[1].tolist()

    steps = [("norm1", lambda rows: look(block.attention, rows))]
    if context is not None:
        steps.append(("norm_cross", lambda rows: look(block.cross_attention, rows, context)))
    steps.append(("norm2", lambda rows: [mlp(sample) for sample in rows]))
    for norm, step in steps:
        if config.norm_first:
            x = x.double() + torch.tensor(step([normed(norm, s) for s in x.double().tolist()]))
        else:
            total = x.double() + torch.tensor(step(x.double().tolist()))
            x = torch.tensor([normed(norm, s) for s in total.tolist()], dtype=torch.float64)
    return x


@pytest.fixture(autouse=True)
def _double():
    """Numbers that are written out as lists are read back as float64."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", [name for name in CONFIGS if "rms" not in name])
def test_equals_the_loops(name, causal, dtype):
    block, x, context = build(CONFIGS[name], dtype)
    mask, bias = None, None
    if causal:
        mask, bias = Mask.causal(), torch.full((LENGTH, LENGTH), -math.inf).triu(1).expand(BATCH, -1, -1)
    output = block(x, context, mask)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), by_loops(block, x, context, bias), **CLOSE[dtype])


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("norm_first", [True, False])
def test_equals_the_loops_with_rms_and_gate(norm_first, dtype):
    config = BlockConfig(
        norm="rms", norm_first=norm_first, activation="swiglu", bias=False, num_kv_heads=1, eps=1e-3
    )
    block, x, _ = build(config, dtype)
    torch.testing.assert_close(block(x).double(), by_loops(block, x), **CLOSE[dtype])


def test_the_parameters_of_the_lesson():
    block = TransformerBlock(64, 4, 256)
    count = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    assert count(block) == 49_984
    assert count(block.attention) == 16_640
    assert count(block.mlp) == 33_088
    assert count(block.norm1) + count(block.norm2) == 256


def test_parameters_are_drawn_in_the_order_of_the_lesson():
    torch.manual_seed(0)
    block = TransformerBlock(14, 2, 23)
    torch.manual_seed(0)
    drawn = [nn.Linear(14, 42), nn.Linear(14, 14), nn.Linear(14, 23), nn.Linear(23, 14)]
    ours = (
        block.attention.qkv_proj,
        block.attention.output_proj,
        block.mlp.hidden_proj,
        block.mlp.output_proj,
    )
    for linear, expected in zip(ours, drawn, strict=True):
        assert torch.equal(linear.weight, expected.weight)
        assert torch.equal(linear.bias, expected.bias)
    assert [name for name, _ in block.named_parameters()] == [
        *("norm1.weight", "norm1.bias"),
        *("attention.qkv_proj.weight", "attention.qkv_proj.bias"),
        *("attention.output_proj.weight", "attention.output_proj.bias"),
        *("norm2.weight", "norm2.bias"),
        *("mlp.hidden_proj.weight", "mlp.hidden_proj.bias"),
        *("mlp.output_proj.weight", "mlp.output_proj.bias"),
    ]


def copy_values(theirs, ours):
    """nn.TransformerEncoderLayer or nn.TransformerDecoderLayer into a block, name by name."""
    norms = ["norm1", "norm2"]
    attentions = {"self_attn": ours.attention}
    if ours.config.cross_attention:
        norms = ["norm1", "norm_cross", "norm2"]
        attentions["multihead_attn"] = ours.cross_attention
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))  # norms and biases start too plain
    for i, name in enumerate(norms, start=1):
        getattr(ours, name).load_state_dict(getattr(theirs, f"norm{i}").state_dict())
    for name, attention in attentions.items():
        values = {k.replace("in_proj_", "qkv_proj.").replace("out_proj", "output_proj"): v
                  for k, v in getattr(theirs, name).state_dict().items()}  # fmt: skip
        attention.load_state_dict(values)
    ours.mlp.hidden_proj.load_state_dict(theirs.linear1.state_dict())
    ours.mlp.output_proj.load_state_dict(theirs.linear2.state_dict())


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [True, False])
def test_equals_torchs_encoder_layer(norm_first, activation, bias, causal, training):
    torch.manual_seed(0)
    options = {"activation": activation, "norm_first": norm_first, "bias": bias}
    theirs = nn.TransformerEncoderLayer(
        14, 2, 23, dropout=0.0, layer_norm_eps=1e-3, batch_first=True, **options
    )
    ours = TransformerBlock(14, 2, 23, BlockConfig(eps=1e-3, **options))
    copy_values(theirs, ours)
    theirs.train(training)
    ours.train(training)
    x = torch.randn(BATCH, LENGTH, 14)
    blocked = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1) if causal else None
    torch.testing.assert_close(
        ours(x, mask=Mask.causal() if causal else None), theirs(x, src_mask=blocked), **EXACT
    )


@pytest.mark.parametrize("norm_first", [True, False])
def test_equals_torchs_decoder_layer(norm_first):
    torch.manual_seed(0)
    theirs = nn.TransformerDecoderLayer(14, 2, 23, dropout=0.0, batch_first=True, norm_first=norm_first)
    ours = TransformerBlock(14, 2, 23, BlockConfig(norm_first=norm_first, cross_attention=True))
    copy_values(theirs, ours)
    x, context, lengths = torch.randn(3, 5, 14), torch.randn(3, 7, 14), torch.tensor([7, 4, 2])
    expected = theirs(
        x,
        context,
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        memory_key_padding_mask=torch.arange(7) >= lengths[:, None],
    )
    torch.testing.assert_close(ours(x, context, Mask.causal(), Mask.padding(lengths)), expected, **EXACT)


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_falls_where_torchs_does(norm_first):
    # One sample and one seed: both layers then drop the same numbers, if they drop in the same places.
    options = {"dropout": 0.5, "norm_first": norm_first}
    theirs = nn.TransformerEncoderLayer(14, 2, 23, batch_first=True, **options)
    ours = TransformerBlock(14, 2, 23, BlockConfig(**options))
    copy_values(theirs, ours)
    x = torch.randn(1, 11, 14)
    torch.manual_seed(7)
    expected = theirs(x)
    torch.manual_seed(7)
    torch.testing.assert_close(ours(x), expected, **EXACT)
    theirs.eval()
    ours.eval()
    torch.testing.assert_close(ours(x), theirs(x), **EXACT)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_future_changes_nothing(name):
    # jadore801120/attention-is-all-you-need-pytorch#19, tensorflow/text#894
    block, x, context = build(CONFIGS[name])
    before = block(x, context, Mask.causal())
    for t in range(LENGTH):
        changed = x.clone()
        changed[:, t:] = torch.randn(BATCH, LENGTH - t, D_MODEL)
        after = block(changed, context, Mask.causal())
        torch.testing.assert_close(after[:, :t], before[:, :t], **EXACT)
        assert (after[:, t] != before[:, t]).any()


@pytest.mark.parametrize("filling", [0.0, 1e10, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", CONFIGS)
def test_the_padding_changes_nothing(name, filling):
    # pytorch#64525
    block, x, context = build(CONFIGS[name])
    lengths, context_lengths = torch.tensor([5, 3, 1]), torch.tensor([2, 7, 4])
    context_mask = None if context is None else Mask.padding(context_lengths)

    def run(content):
        filled, filled_context = x.clone(), None if context is None else context.clone()
        for b in range(BATCH):
            filled[b, lengths[b] :] = content
            if filled_context is not None:
                filled_context[b, context_lengths[b] :] = content
        block.zero_grad()
        output = block(filled, filled_context, Mask.padding(lengths), context_mask)
        kept = torch.cat([output[b, : lengths[b]] for b in range(BATCH)])
        kept.square().sum().backward()
        return [kept.detach(), *(p.grad.clone() for p in block.parameters())]

    for one, other in zip(run(filling), run(0.5), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_order_of_the_batch_changes_nothing(name):
    block, x, context = build(CONFIGS[name])
    order = torch.tensor([2, 0, 1])
    shuffled = block(x[order], None if context is None else context[order])
    torch.testing.assert_close(shuffled, block(x, context)[order], **EXACT)


@pytest.mark.parametrize("name", CONFIGS)
def test_samples_do_not_see_each_other(name):
    block, x, context = build(CONFIGS[name])
    together = block(x, context)
    for b in range(BATCH):
        alone = block(x[b : b + 1], None if context is None else context[b : b + 1])
        torch.testing.assert_close(alone, together[b : b + 1], **EXACT)
    x = x.requires_grad_()
    (gradient,) = torch.autograd.grad(block(x, context)[1].square().sum(), x)
    assert (gradient[[0, 2]] == 0).all()
    assert (gradient[1] != 0).any()


@pytest.mark.parametrize("name", CONFIGS)
def test_gradcheck_and_every_parameter_gets_a_gradient(name):
    block, x, context = build(CONFIGS[name])
    mask = Mask.causal() & Mask.padding(torch.tensor([5, 3, 1]))
    inputs = [t.requires_grad_() for t in (x, context) if t is not None]
    run = lambda *given: block(given[0], *given[1:], mask=mask)  # noqa: E731
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)
    run(*inputs).square().sum().backward()
    for parameter, value in block.named_parameters():
        assert value.grad is not None, parameter
        assert (value.grad != 0).any(), parameter


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("name", CONFIGS)
def test_lengths_down_to_nothing_give_no_nan(name, dtype):
    # pytorch#27968, pytorch#41508
    block, _, _ = build(CONFIGS[name], dtype)
    config = block.config
    x = torch.randn(4, 5, D_MODEL, dtype=dtype, requires_grad=True)
    lengths, context, context_mask = torch.tensor([5, 3, 1, 0]), None, None
    if config.cross_attention:
        context = torch.randn(4, 5, config.d_context or D_MODEL, dtype=dtype, requires_grad=True)
        context_mask = Mask.padding(lengths.flip(0))
    for mask in (Mask.padding(lengths), Mask.causal() & Mask.padding(lengths, side="left")):
        output = block(x, context, mask, context_mask)
        assert output.isfinite().all()
        output.square().sum().backward()
    for leaf in (x, *block.parameters(), *([] if context is None else [context])):
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()


@pytest.mark.parametrize(("batch", "length"), [(0, 5), (2, 0)])
@pytest.mark.parametrize("name", CONFIGS)
def test_empty_input(name, batch, length):
    block, _, context = build(CONFIGS[name])
    context = None if context is None else context[:1].expand(batch, -1, -1)
    x = torch.randn(batch, length, D_MODEL, requires_grad=True)
    output = block(x, context, Mask.causal())
    assert output.shape == x.shape
    output.sum().backward()


@given(
    batch=st.integers(1, 3),
    length=st.integers(1, 6),
    keys=st.integers(1, 6),
    norm=st.sampled_from(["layer", "rms"]),
    norm_first=st.booleans(),
    activation=st.sampled_from(["relu", "gelu", "gelu_tanh", "swiglu"]),
    bias=st.booleans(),
    cross=st.booleans(),
    causal=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_every_config_equals_the_loops(
    batch, length, keys, norm, norm_first, activation, bias, cross, causal, seed
):
    torch.manual_seed(seed)
    config = BlockConfig(
        norm=norm,
        norm_first=norm_first,
        activation=activation,
        bias=bias,
        num_kv_heads=1,
        head_dim=3,
        cross_attention=cross,
        d_context=5 if cross else None,
    )
    block = TransformerBlock(7, 2, 11, config)
    x, context = torch.randn(batch, length, 7), torch.randn(batch, keys, 5) if cross else None
    table = torch.full((length, length), -math.inf).triu(1).expand(batch, -1, -1) if causal else None
    output = block(x, context, Mask.causal() if causal else None)
    torch.testing.assert_close(output, by_loops(block, x, context, table), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("steps", [[5], [1] * 5, [3, 2]], ids=str)
@pytest.mark.parametrize("name", CONFIGS)
def test_with_a_cache_each_step_equals_the_full_forward(name, steps):
    block, x, context = build(CONFIGS[name])
    cache = KVCache(BATCH, block.attention.num_kv_heads, 11, block.attention.head_dim)
    with torch.no_grad():
        full, start = block(x, context, Mask.causal()), 0
        for step in steps:
            part = block(x[:, start : start + step], context, Mask.causal(), cache=cache)
            torch.testing.assert_close(part, full[:, start : start + step], **EXACT)
            start += step
    assert cache.length == LENGTH


def test_left_padding_with_rotary_equals_each_sample_alone():
    # transformers#3021, keras-hub#571, nnsight#673
    block, x, _ = build(CONFIGS["rms, gated, grouped"])
    lengths = torch.tensor([5, 3, 1])
    positions = (torch.arange(5) - (5 - lengths[:, None])).clamp(min=0)
    mask = Mask.causal() & Mask.padding(lengths, side="left")
    together = block(x, mask=mask, positions=positions)
    for b in range(BATCH):
        first = 5 - int(lengths[b])
        alone = block(x[b : b + 1, first:], mask=Mask.causal())
        torch.testing.assert_close(together[b : b + 1, first:], alone, **EXACT)


def test_no_two_blocks_start_alike():
    # pytorch#86274, annotated-transformer#9
    blocks = [TransformerBlock(14, 2, 23) for _ in range(3)]
    for name, first in blocks[0].named_parameters():
        if name.startswith("norm"):
            continue
        others = [dict(block.named_parameters())[name] for block in blocks[1:]]
        assert not torch.equal(first, others[0]), name
        assert not torch.equal(first, others[1]), name
        assert not torch.equal(others[0], others[1]), name


@pytest.mark.parametrize("name", CONFIGS)
def test_copies_and_saved_values_are_the_same_block(name):
    block, x, context = build(CONFIGS[name])
    other, _, _ = build(CONFIGS[name], seed=5)
    meta = TransformerBlock(D_MODEL, HEADS, D_MLP, CONFIGS[name], device="meta")
    assert all(p.is_meta for p in meta.parameters())
    assert not torch.equal(other(x, context), block(x, context))
    for twin in (other, meta.to_empty(device="cpu")):
        twin.load_state_dict(block.state_dict())
        assert torch.equal(twin(x, context), block(x, context))
    assert torch.equal(copy.deepcopy(block)(x, context), block(x, context))


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
def test_dtype_reaches_every_parameter(dtype):
    block, _, _ = build(CONFIGS["cross, own width, post-norm"], dtype)
    assert {p.dtype for p in block.parameters()} == {dtype}


def test_large_values_in_half_precision_stay_finite():
    # mistral#66: RMSNorm squares its input: in float16 300² is already infinite.
    for norm in ("layer", "rms"):
        block, x, _ = build(BlockConfig(norm=norm), torch.float16)
        big = 300 * x.sign()
        assert block(big).isfinite().all()
        assert block.norm1(big).abs().max() > 0.1


def test_a_config_cannot_be_changed():
    with pytest.raises(AttributeError):
        BlockConfig().bias = False  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"norm": "batch"}, "norm must be one of layer, rms, but is 'batch'"),
        ({"activation": "tanh"}, "activation must be one of relu, gelu, gelu_tanh, swiglu, but is 'tanh'"),
        ({"eps": 0.0}, "eps must be greater than 0, but is 0.0"),
        ({"dropout": -0.1}, "dropout must be a share, from 0 to 1, but is -0.1"),
        ({"d_context": 7}, "d_context=7 needs cross_attention=True"),
    ],
)
def test_configs_that_are_none(options, says):
    with pytest.raises(ValueError, match=says):
        BlockConfig(**options)


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"d_model=14 .*num_heads=3.*head_dim"):
        TransformerBlock(14, 3, 23)
    with pytest.raises(ValueError, match="d_mlp must be at least 1, but is 0"):
        TransformerBlock(14, 2, 0)
    with pytest.raises(ValueError, match="num_kv_heads=3 must divide num_heads=2"):
        TransformerBlock(14, 2, 23, BlockConfig(num_kv_heads=3))


def test_inputs_that_do_not_fit():
    block, x, _ = build(BlockConfig())
    crossed, _, context = build(CONFIGS["cross, own width, post-norm"])
    with pytest.raises(ValueError, match="no cross-attention: it takes no context"):
        block(x, x)
    with pytest.raises(ValueError, match="has cross-attention: give it a context"):
        crossed(x)
    with pytest.raises(ValueError, match="context_mask says who may look at the context"):
        block(x, context_mask=Mask.causal())
    with pytest.raises(ValueError, match=r"x must be \(batch, length, d_model=14\), but is \(3, 5, 13\)"):
        block(x[..., :13])
    with pytest.raises(ValueError, match=r"x must be .*, but is \(5, 14\)"):
        block(x[0], mask=Mask.causal())
    with pytest.raises(ValueError, match=r"d_context=11\), but is \(3, 7, 10\)"):
        crossed(x, context[..., :10])
    with pytest.raises(TypeError, match=r"Mask\.allowed"):
        block(x, mask=torch.ones(5, 5, dtype=torch.bool))
