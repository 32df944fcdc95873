"""TransformerBlock against loops and against PyTorch's layers."""

import loops
import pytest
import torch
from examples import BATCH, CLOSE, CONFIGS, EXACT, LENGTH, NEVER, block_of, randn
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mirada import BlockConfig, KVCache, Mask, TransformerBlock


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", [name for name in CONFIGS if "rms" not in name])
def test_equals_the_loops(name, causal, dtype):
    block, x, context = block_of(CONFIGS[name], dtype)
    mask, bias = None, None
    if causal:
        mask, bias = Mask.causal(), torch.full((LENGTH, LENGTH), NEVER).triu(1).expand(BATCH, -1, -1)
    output = block(x, context, mask)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), loops.block(block, x, context, bias), **CLOSE[dtype])


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("norm_first", [True, False])
def test_equals_the_loops_with_rms_and_gate(norm_first, dtype):
    config = BlockConfig(
        norm="rms", norm_first=norm_first, activation="swiglu", bias=False, num_kv_heads=1, eps=1e-3
    )
    block, x, _ = block_of(config, dtype)
    torch.testing.assert_close(block(x).double(), loops.block(block, x), **CLOSE[dtype])


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
        14, 2, 23, dropout=0.0, layer_norm_eps=1e-3, batch_first=True, dtype=torch.float64, **options
    )
    ours = TransformerBlock(14, 2, 23, BlockConfig(eps=1e-3, **options), dtype=torch.float64)
    copy_values(theirs, ours)
    theirs.train(training)
    ours.train(training)
    x = randn(BATCH, LENGTH, 14)
    blocked = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1) if causal else None
    torch.testing.assert_close(
        ours(x, mask=Mask.causal() if causal else None), theirs(x, src_mask=blocked), **EXACT
    )


@pytest.mark.parametrize("norm_first", [True, False])
def test_equals_torchs_decoder_layer(norm_first):
    torch.manual_seed(0)
    theirs = nn.TransformerDecoderLayer(
        14, 2, 23, dropout=0.0, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    ours = TransformerBlock(
        14, 2, 23, BlockConfig(norm_first=norm_first, cross_attention=True), dtype=torch.float64
    )
    copy_values(theirs, ours)
    x, context, lengths = randn(3, 5, 14), randn(3, 7, 14), torch.tensor([7, 4, 2])
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
    theirs = nn.TransformerEncoderLayer(14, 2, 23, batch_first=True, dtype=torch.float64, **options)
    ours = TransformerBlock(14, 2, 23, BlockConfig(**options), dtype=torch.float64)
    copy_values(theirs, ours)
    x = randn(1, 11, 14)
    torch.manual_seed(7)
    expected = theirs(x)
    torch.manual_seed(7)
    torch.testing.assert_close(ours(x), expected, **EXACT)
    theirs.eval()
    ours.eval()
    torch.testing.assert_close(ours(x), theirs(x), **EXACT)


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
    block = TransformerBlock(7, 2, 11, config, dtype=torch.float64)
    x, context = randn(batch, length, 7), randn(batch, keys, 5) if cross else None
    table = torch.full((length, length), NEVER).triu(1).expand(batch, -1, -1) if causal else None
    output = block(x, context, Mask.causal() if causal else None)
    torch.testing.assert_close(output, loops.block(block, x, context, table), rtol=1e-10, atol=1e-10)


def test_a_cache_for_a_context_that_is_not_there():
    with pytest.raises(ValueError, match="context_cache keeps what is read of a context, but there is none"):
        TransformerBlock(14, 2, 11)(torch.randn(2, 5, 14), context_cache=KVCache(2, 2, 7, 7))
