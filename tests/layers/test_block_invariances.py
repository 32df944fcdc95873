"""What must never change a block's output, and what it does at its limits."""

import copy
import math

import pytest
import torch
from examples import BATCH, CLOSE, CONFIGS, D_MLP, D_MODEL, EXACT, LENGTH, block_of, randn

from mirada import BlockConfig, KVCache, Mask, TransformerBlock


@pytest.mark.parametrize("name", CONFIGS)
def test_the_future_changes_nothing(name):
    # jadore801120/attention-is-all-you-need-pytorch#19, tensorflow/text#894
    block, x, context = block_of(CONFIGS[name])
    before = block(x, context, Mask.causal())
    for t in range(LENGTH):
        changed = x.clone()
        changed[:, t:] = randn(BATCH, LENGTH - t, D_MODEL)
        after = block(changed, context, Mask.causal())
        torch.testing.assert_close(after[:, :t], before[:, :t], **EXACT)
        assert (after[:, t] != before[:, t]).any()


@pytest.mark.parametrize("filling", [0.0, 1e10, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", CONFIGS)
def test_the_padding_changes_nothing(name, filling):
    # pytorch#64525
    block, x, context = block_of(CONFIGS[name])
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
    block, x, context = block_of(CONFIGS[name])
    order = torch.tensor([2, 0, 1])
    shuffled = block(x[order], None if context is None else context[order])
    torch.testing.assert_close(shuffled, block(x, context)[order], **EXACT)


@pytest.mark.parametrize("name", CONFIGS)
def test_samples_do_not_see_each_other(name):
    block, x, context = block_of(CONFIGS[name])
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
    block, x, context = block_of(CONFIGS[name])
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
    block, _, _ = block_of(CONFIGS[name], dtype)
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
    block, _, context = block_of(CONFIGS[name])
    context = None if context is None else context[:1].expand(batch, -1, -1)
    x = randn(batch, length, D_MODEL).requires_grad_()
    output = block(x, context, Mask.causal())
    assert output.shape == x.shape
    output.sum().backward()


@pytest.mark.parametrize("steps", [[5], [1] * 5, [3, 2]], ids=str)
@pytest.mark.parametrize("name", CONFIGS)
def test_with_a_cache_each_step_equals_the_full_forward(name, steps):
    block, x, context = block_of(CONFIGS[name])
    cache = KVCache(BATCH, block.attention.num_kv_heads, 11, block.attention.head_dim, dtype=torch.float64)
    with torch.no_grad():
        full, start = block(x, context, Mask.causal()), 0
        for step in steps:
            part = block(x[:, start : start + step], context, Mask.causal(), cache=cache)
            torch.testing.assert_close(part, full[:, start : start + step], **EXACT)
            start += step
    assert cache.length == LENGTH


def test_left_padding_with_rotary_equals_each_sample_alone():
    # transformers#3021, keras-hub#571, nnsight#673
    block, x, _ = block_of(CONFIGS["rms, gated, grouped"])
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
    block, x, context = block_of(CONFIGS[name])
    other, _, _ = block_of(CONFIGS[name], seed=5)
    meta = TransformerBlock(D_MODEL, 2, D_MLP, CONFIGS[name], device="meta", dtype=torch.float64)
    assert all(p.is_meta for p in meta.parameters())
    assert not torch.equal(other(x, context), block(x, context))
    for twin in (other, meta.to_empty(device="cpu")):
        twin.load_state_dict(block.state_dict())
        assert torch.equal(twin(x, context), block(x, context))
    assert torch.equal(copy.deepcopy(block)(x, context), block(x, context))


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
def test_dtype_reaches_every_parameter(dtype):
    block, _, _ = block_of(CONFIGS["cross, own width, post-norm"], dtype)
    assert {p.dtype for p in block.parameters()} == {dtype}


def test_large_values_in_half_precision_stay_finite():
    # mistral#66: RMSNorm squares its input: in float16 300² is already infinite.
    for norm in ("layer", "rms"):
        block, x, _ = block_of(BlockConfig(norm=norm), torch.float16)
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
    block, x, _ = block_of(BlockConfig())
    crossed, _, context = block_of(CONFIGS["cross, own width, post-norm"])
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
    with pytest.raises(ValueError, match=r"d_context=17\), but is \(3, 7, 10\)"):
        crossed(x, context[..., :10])
    with pytest.raises(TypeError, match=r"Mask\.allowed"):
        block(x, mask=torch.ones(5, 5, dtype=torch.bool))
