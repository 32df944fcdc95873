"""from_torch and to_torch: the same numbers and gradients as PyTorch's layers, both ways."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_pairs import (
    BATCH,
    D_CONTEXT,
    D_MLP,
    D_MODEL,
    HEADS,
    KEYS,
    LENGTH,
    MASKS,
    attention,
    decoder,
    encoder,
    inputs,
    masks,
)

from mirada import Mask, from_torch, to_torch

TOLERANCE = {
    torch.float64: {"rtol": 0, "atol": 1e-13},
    torch.float32: {"rtol": 0, "atol": 1e-6},
}
GELU_TANH = partial(F.gelu, approximate="tanh")
ACTIVATIONS = {
    "relu": ["relu", F.relu, torch.relu, nn.ReLU()],
    "gelu": ["gelu", F.gelu, nn.GELU(), partial(F.gelu), partial(F.gelu, approximate="none")],
    "gelu_tanh": [GELU_TANH, nn.GELU("tanh")],
}
SPELLINGS = [(name, spelling) for name, spellings in ACTIVATIONS.items() for spelling in spellings]


def turned(x, batch_first):
    return x if batch_first else x.transpose(0, 1)


def theirs_attends(layer, x, context, attn_mask, padding):
    """Output and the weights of each head, read batch first whatever the layer does."""
    first = layer.batch_first
    query, key = turned(x, first), turned(context, first)
    options = {"attn_mask": attn_mask, "key_padding_mask": padding, "average_attn_weights": False}
    out, weights = layer(query, key, key, **options)
    return turned(out, first), weights


def theirs_blocks(layer, x, context=None, own=(None, None), other=(None, None)):
    """A block's output, read batch first; own and other: (attn_mask, key_padding_mask)."""
    first = layer.self_attn.batch_first
    if context is None:
        return turned(layer(turned(x, first), *own), first)
    names = ("tgt_mask", "tgt_key_padding_mask", "memory_mask", "memory_key_padding_mask")
    options = dict(zip(names, (*own, *other), strict=True))
    return turned(layer(turned(x, first), turned(context, first), **options), first)


def states_equal(first, second):
    first, second = first.state_dict(), second.state_dict()
    return list(first) == list(second) and all(torch.equal(first[name], second[name]) for name in first)


def gradients_of(ours):
    """The gradients under PyTorch's names: carried as if they were the weights."""
    shell = from_torch(to_torch(ours))
    for gradient, parameter in zip(shell.parameters(), ours.parameters(), strict=True):
        gradient.data = parameter.grad
    return {name: parameter.detach() for name, parameter in to_torch(shell).named_parameters()}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("look_at", ["itself", "a context", "a context of another width"])
def test_attention_gives_pytorchs_output_and_weights(look_at, batch_first, bias, mask, dtype):
    wide = {"kdim": D_CONTEXT, "vdim": D_CONTEXT} if look_at.endswith("width") else {}
    theirs = attention(dtype, bias=bias, batch_first=batch_first, **wide)
    x, context = inputs(dtype, D_CONTEXT if wide else D_MODEL)
    given = None if look_at == "itself" else context
    context = x if given is None else context
    our_mask, attn_mask, padding = masks(LENGTH, context.shape[1], dtype)[mask]
    expected, expected_weights = theirs_attends(theirs, x, context, attn_mask, padding)
    ours = from_torch(theirs)
    torch.testing.assert_close(ours(x, given, our_mask), expected, **TOLERANCE[dtype])
    # pytorch#34537: a table for each head, never an average that nobody asked for
    weights = ours.weights(x, given, our_mask)
    assert weights.shape == (BATCH, HEADS, LENGTH, context.shape[1])
    torch.testing.assert_close(weights, expected_weights, **TOLERANCE[dtype])

    back = to_torch(ours)
    assert back.batch_first
    assert states_equal(back, theirs)
    out, out_weights = theirs_attends(back, x, context, attn_mask, padding)
    torch.testing.assert_close(out, expected, **TOLERANCE[dtype])
    torch.testing.assert_close(out_weights, expected_weights, **TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("build", [encoder, decoder])
def test_a_block_gives_pytorchs_output(build, activation, norm_first, batch_first, bias, dtype):
    theirs = build(
        dtype,
        activation=ACTIVATIONS[activation][-1],
        norm_first=norm_first,
        batch_first=batch_first,
        bias=bias,
        layer_norm_eps=1e-2,
    )
    x, context = inputs(dtype)
    given = () if build is encoder else (context,)
    expected = theirs_blocks(theirs, x, *given)
    ours = from_torch(theirs)
    torch.testing.assert_close(ours(x, *given), expected, **TOLERANCE[dtype])
    back = to_torch(ours)
    assert states_equal(back, theirs)
    torch.testing.assert_close(theirs_blocks(back, x, *given), expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_an_encoder_layer_reads_masks_alike(mask, norm_first, training):
    theirs = encoder(norm_first=norm_first, batch_first=True).train(training)
    x, _ = inputs()
    our_mask, *their_masks = masks(LENGTH, LENGTH)[mask]
    ours = from_torch(theirs)
    expected = theirs_blocks(theirs, x, own=their_masks)
    torch.testing.assert_close(ours(x, mask=our_mask), expected, **TOLERANCE[torch.float64])
    with torch.no_grad():
        torch.testing.assert_close(ours(x, mask=our_mask), expected, **TOLERANCE[torch.float64])
        # pytorch#107084, pytorch#118628: outside training their fast path reads a bias as a boolean
        if mask != "bias":
            fast = theirs_blocks(theirs, x, own=their_masks)
            torch.testing.assert_close(ours(x, mask=our_mask), fast, **TOLERANCE[torch.float64])


@pytest.mark.parametrize("own", MASKS)
@pytest.mark.parametrize("other", MASKS)
def test_a_decoder_layer_reads_both_masks_alike(own, other):
    theirs = decoder(batch_first=True)
    x, context = inputs()
    own_mask, *their_own = masks(LENGTH, LENGTH)[own]
    other_mask, *their_other = masks(LENGTH, KEYS)[other]
    expected = theirs_blocks(theirs, x, context, their_own, their_other)
    torch.testing.assert_close(from_torch(theirs)(x, context, own_mask, other_mask), expected)


# nanoGPT PR#274, transformers#13666: exact GELU is not the tanh one, and the import must say which.
@pytest.mark.parametrize(("name", "spelling"), SPELLINGS)
@pytest.mark.parametrize("build", [encoder, decoder])
def test_every_spelling_of_an_activation_is_carried(build, name, spelling):
    theirs = build(activation=spelling, batch_first=True)
    ours = from_torch(theirs)
    assert ours.config.activation == name
    x, context = inputs()
    x = 5 * x
    given = (x,) if build is encoder else (x, context)
    expected = theirs(*given)
    torch.testing.assert_close(ours(*given), expected, **TOLERANCE[torch.float64])
    back = to_torch(ours)
    torch.testing.assert_close(back(*given), expected, **TOLERANCE[torch.float64])
    with torch.no_grad():  # the fast path of nn.TransformerEncoderLayer knows no tanh and must not be taken
        torch.testing.assert_close(back.eval()(*given), expected, **TOLERANCE[torch.float64])


# fast-transformers#103, transformers#18137: another eps is another layer.
@pytest.mark.parametrize("build", [encoder, decoder])
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.1])
def test_the_eps_of_the_norms_is_carried(build, eps):
    ours = from_torch(build(layer_norm_eps=eps))
    norms = [part for part in ours.modules() if isinstance(part, nn.LayerNorm)]
    back = [part for part in to_torch(ours).modules() if isinstance(part, nn.LayerNorm)]
    assert [norm.eps for norm in norms + back] == [eps] * len(norms + back)
    assert len(norms) == len(back) == (2 if build is encoder else 3)
    assert ours.config.eps == eps


# pytorch#26698: with another key width each projection still learns, and as much as in PyTorch.
@pytest.mark.parametrize("look_at", ["itself", "a context of another width"])
def test_gradients_of_attention_are_pytorchs(look_at):
    wide = {"kdim": D_CONTEXT, "vdim": D_CONTEXT} if look_at.endswith("width") else {}
    theirs = attention(batch_first=True, **wide)
    ours = from_torch(theirs)
    x, context = inputs(d_context=D_CONTEXT)
    mask, attn_mask, padding = masks(LENGTH, KEYS if wide else LENGTH)["causal and padding"]
    wanted = torch.randn(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    leaves = [[t.clone().requires_grad_() for t in (x, context)] for _ in range(2)]
    for (own, other), run in zip(
        leaves,
        (
            lambda own, other: ours(own, other if wide else None, mask),
            lambda own, other: theirs_attends(theirs, own, other if wide else own, attn_mask, padding)[0],
        ),
        strict=True,
    ):
        (run(own, other) * wanted).sum().backward()
    torch.testing.assert_close(leaves[0][0].grad, leaves[1][0].grad, rtol=0, atol=1e-12)
    if wide:
        torch.testing.assert_close(leaves[0][1].grad, leaves[1][1].grad, rtol=0, atol=1e-12)
    expected = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    assert all(gradient.any() for gradient in expected.values())
    torch.testing.assert_close(gradients_of(ours), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("build", [encoder, decoder])
@pytest.mark.parametrize("norm_first", [True, False])
def test_gradients_of_a_block_are_pytorchs(build, norm_first):
    theirs = build(norm_first=norm_first, batch_first=True, activation="gelu")
    ours = from_torch(theirs)
    x, context = inputs()
    mask, *their_masks = masks(LENGTH, LENGTH)["causal and padding"]
    given = () if build is encoder else (context,)
    wanted = torch.randn(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    leaves = [x.clone().requires_grad_() for _ in range(2)]
    (ours(leaves[0], *given, mask=mask) * wanted).sum().backward()
    (theirs_blocks(theirs, leaves[1], *given, own=their_masks) * wanted).sum().backward()
    torch.testing.assert_close(leaves[0].grad, leaves[1].grad, rtol=0, atol=1e-12)
    expected = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    torch.testing.assert_close(gradients_of(ours), expected, rtol=0, atol=1e-12)


# Both round differently on the way; each stays as near to the exact result as the dtype allows.
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("build", [attention, encoder, decoder])
def test_half_precision_stays_within_its_rounding(build, dtype):
    theirs = build(dtype, batch_first=True)
    ours = from_torch(theirs)
    assert {parameter.dtype for parameter in ours.parameters()} == {dtype}
    x, context = inputs(dtype)
    given = (x, context) if build is decoder else (x,)
    out = ours(*given)
    assert out.dtype == dtype
    exact = from_torch(theirs.double())(*[tensor.double() for tensor in given])
    steps = 4 * torch.finfo(dtype).eps * exact.abs().max()
    assert (out.double() - exact).abs().max() <= steps


# pytorch#97128: without bias and with an odd number of heads PyTorch takes other paths than with both.
@pytest.mark.parametrize("num_heads", [1, 3, 5])
@pytest.mark.parametrize("bias", [True, False])
def test_odd_heads_and_no_bias_take_other_paths_and_give_the_same(num_heads, bias):
    torch.manual_seed(0)
    d_model = 7 * num_heads
    theirs = nn.TransformerEncoderLayer(
        d_model, num_heads, D_MLP, 0.0, bias=bias, batch_first=True, dtype=torch.float64
    ).eval()
    x = torch.randn(BATCH, LENGTH, d_model, dtype=torch.float64)
    ours = from_torch(theirs)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), theirs(x), **TOLERANCE[torch.float64])
    weights = ours.attention.weights(x)
    expected = theirs.self_attn(x, x, x, average_attn_weights=False)[1]
    torch.testing.assert_close(weights, expected, **TOLERANCE[torch.float64])


# pytorch PR#176559: d_model 96 in 16 heads makes head_dim 6, which some kernels do not like.
@pytest.mark.parametrize(("d_model", "num_heads"), [(96, 16), (33, 11), (5, 5)])
def test_any_head_dim_gives_the_same(d_model, num_heads):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
    x = torch.randn(BATCH, LENGTH, d_model)
    torch.testing.assert_close(
        from_torch(theirs)(x, mask=Mask.causal()), causal(theirs, x), rtol=0, atol=1e-6
    )


def causal(theirs, x):
    ahead = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    return theirs(x, x, x, attn_mask=ahead, need_weights=False)[0]
