"""F.scaled_dot_product_attention, however it is called, against a reference in loops."""

import functools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from watched import Calls, close, flat, gradients, same, seen

import mirada
from reference import causal, everybody, reference_weights, table

SAVED = F.scaled_dot_product_attention
R = torch.randn


def sdpa(**options) -> nn.Module:
    return Calls(lambda self, q, k, v: F.scaled_dot_product_attention(q, k, v, **options))


def broadcast(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return x.expand(*like.shape[:-2], *x.shape[-2:])


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 3, 5), (2, 1, 3, 2)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_inputs_of_any_number_of_dimensions(lead, dtype):
    q, k, v = (R(*lead, *size, dtype=dtype) for size in ((5, 7), (11, 7), (11, 3)))
    gaze = seen(sdpa(), q, k, v)
    assert gaze.proved
    wanted = reference_weights(q, k)
    close(gaze[0].weights().flatten(), wanted.flatten())


@pytest.mark.parametrize("shapes", [((1, 4), (2, 4)), ((2, 4), (1, 4)), ((2, 4), (2, 1)), ((2, 1), (2, 4))])
def test_what_broadcasts(shapes):
    q, k = R(*shapes[0], 5, 7), R(*shapes[1], 3, 7)
    full = torch.broadcast_shapes(*shapes)
    gaze = seen(sdpa(), q, k, R(*shapes[1], 3, 11))
    assert gaze.proved
    wanted = reference_weights(q.expand(*full, 5, 7), k.expand(*full, 3, 7))
    close(gaze[0].weights(), wanted)


def test_values_of_more_heads_and_expanded_inputs():
    one, many = R(2, 1, 5, 7), R(2, 4, 5, 7)
    for q, k, v in (
        (one, one, many),  # a head of weights for many heads of values
        (R(2, 3, 1, 7).expand(2, 3, 5, 7), R(2, 3, 5, 7), R(2, 3, 5, 7)),  # one query for all rows
        (R(2, 3, 5, 7), R(2, 3, 5, 1).expand(2, 3, 5, 7), R(2, 3, 5, 7)),
        (R(1, 1, 5, 7).expand(2, 3, 5, 7), R(2, 3, 5, 7), R(2, 3, 5, 7)),
    ):
        gaze = seen(sdpa(), q, k, v)
        assert gaze.proved
        heads = max(x.shape[1] for x in (q, k, v))
        wanted = reference_weights(q.expand(2, heads, 5, 7), k.expand(2, heads, 5, 7))
        close(gaze[0].weights(), wanted)


# PyTorch reads True as "may look" here, and as "may not" in nn.MultiheadAttention.
@pytest.mark.parametrize("shape", [(5, 11), (3, 5, 11), (2, 1, 1, 11), (2, 3, 5, 11), (1, 3, 1, 1)], ids=str)
@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
def test_masks(shape, kind):
    q, k, v = R(2, 3, 5, 7), R(2, 3, 11, 7), R(2, 3, 11, 7)
    mask = R(*shape)
    mask[..., -1, -1] = 1  # else the last key might be a place in a cache that nothing was written to yet
    if kind == torch.bool:
        mask = mask > -0.5
        rule = table(mask, blocked=False)
    else:
        mask = mask.masked_fill(mask < -1, -math.inf)
        rule = table(mask)
    gaze = seen(sdpa(attn_mask=mask), q, k, v)
    assert gaze.proved
    wanted = reference_weights(q, k, rule)
    close(gaze[0].weights(), wanted)
    assert not gaze[0].weights()[wanted == 0].any()  # exactly


@pytest.mark.parametrize("shape", [(5, 5), (4, 5, 5), (3, 4, 5, 5), (3, 1, 5, 5), (2, 3, 4, 5, 5)], ids=str)
def test_masks_of_five_dimensions(shape):
    x, mask = R(2, 3, 4, 5, 7), R(*shape) > -0.5
    gaze = seen(sdpa(attn_mask=mask), x, x, x)
    assert gaze.proved
    wanted = reference_weights(x, x, table(mask, blocked=False))
    close(gaze[0].weights(), wanted.flatten(0, 1))


def test_the_lowest_number_is_a_mask_and_minus_ten_thousand_is_not():
    x = R(2, 3, 5, 7)
    lowest = torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), torch.finfo(torch.float32).min)
    assert not seen(sdpa(attn_mask=lowest), x, x, x)[0].weights().triu(1).any()
    look = seen(sdpa(attn_mask=lowest.clamp(min=-20)), x, x, x)[0]
    assert 0 < look.weights()[0, 0, 0, 4] < 1e-6
    assert not look.states().any()  # tiny, not masked


@pytest.mark.parametrize(("rows", "keys"), [(5, 5), (5, 11), (11, 5)])
def test_the_flag_counts_from_the_first_key(rows, keys):
    q, k = R(2, 3, rows, 7), R(2, 3, keys, 7)
    gaze = seen(sdpa(is_causal=True), q, k, k)
    assert gaze.proved
    assert repr(gaze[0].calls[0].mask) == ("Mask.causal()" if rows == keys else "Mask.causal(first=0)")
    close(gaze[0].weights(), reference_weights(q, k, causal(0)))


def test_causal_biases_are_classes_of_their_own():
    q, k = R(2, 3, 5, 7), R(2, 3, 11, 7)
    for bias, rule in ((causal_lower_right(5, 11), causal()), (causal_upper_left(5, 11), causal(0))):
        for function in (SAVED, None):
            model = Calls(
                lambda self, q, k, b, f=function: (f or F.scaled_dot_product_attention)(q, k, k, attn_mask=b)
            )
            gaze = seen(model, q, k, bias)
            assert (len(gaze.runs), gaze.proved) == (1, True)
            close(gaze[0].weights(), reference_weights(q, k, rule))


@pytest.mark.parametrize("scale", [0.03, 1.0, 2.5])
def test_scale(scale):
    x = R(2, 3, 5, 7)
    gaze = seen(sdpa(scale=scale), x, x, x)
    close(gaze[0].weights(), reference_weights(x * (scale * math.sqrt(7)), x))


# TransformerLens#1553: 14 query heads over 2 key heads.
def test_grouped_heads():
    q, k = R(1, 14, 5, 7), R(1, 2, 5, 7)
    (look,) = seen(sdpa(enable_gqa=True), q, k, k)
    wanted = reference_weights(q, k)
    close(look.weights(), wanted)
    close(look.weights(heads=1), wanted[:, 1:2])
    assert "14 over 2" in repr(look)
    chosen = seen(sdpa(enable_gqa=True), q, k, k, heads=[1, 8])
    close(chosen[0].weights(), wanted[:, [1, 8]])
    assert chosen[0].heads == (1, 8)
    assert chosen.proved


def test_dropout():
    x = R(2, 3, 5, 7)
    gaze = seen(sdpa(dropout_p=0.5), x, x, x)
    assert gaze.proved
    close(gaze[0].weights(), reference_weights(x, x))


class ByAttribute(nn.Module):
    attend = staticmethod(SAVED)

    def forward(self, x):
        return self.attend(x, x, x)


class ByDefault(nn.Module):
    def forward(self, x, attend=SAVED):
        return attend(x, x, x)


class ByPartial(nn.Module):
    attend = functools.partial(SAVED, is_causal=True)

    def forward(self, x):
        return self.attend(x, x, x)


class ByOperator(nn.Module):
    def forward(self, x):
        return torch.ops.aten.scaled_dot_product_attention(x, x, x)


class ByTheC(nn.Module):
    def forward(self, x):
        return torch._C._nn.scaled_dot_product_attention(x, x, value=x)


@pytest.mark.parametrize("model", [ByAttribute, ByDefault, ByPartial, ByOperator, ByTheC])
def test_references_that_were_saved_before(model):
    x = R(2, 3, 5, 7)
    gaze = seen(model(), x)
    assert (len(gaze), len(gaze.runs), gaze.proved) == (1, 1, True)
    close(gaze[0].weights(), reference_weights(x, x, causal() if model is ByPartial else everybody))


def test_autocast():
    x = R(2, 3, 31, 64)
    with torch.autocast("cpu", torch.bfloat16):
        gaze = seen(sdpa(), x, x, x)
        within = gaze[0].weights()  # exact, wherever it is asked
    assert gaze.error < 0.01
    assert torch.equal(within, gaze[0].weights())
    halved = x.bfloat16()
    close(within, reference_weights(halved, halved))


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_modes(mode):
    x = R(2, 3, 5, 7)
    with mode():
        gaze = seen(sdpa(), x, x, x)
    assert gaze.proved
    assert not gaze[0].weights().requires_grad
    close(gaze[0].weights(), reference_weights(x, x))


def test_gradients():
    model = Calls(lambda self, x: F.scaled_dot_product_attention(*[self.part(x)] * 3, dropout_p=0.3))
    model.part = nn.Linear(7, 7)
    x = R(2, 3, 5, 7)
    for a, b in zip(gradients(model, x, watched=True), gradients(model, x, watched=False), strict=True):
        assert torch.equal(a, b)


def test_values_that_nobody_may_look_at_do_not_hide_a_difference():
    """The tolerance of the proof is that of what is looked at."""
    x, value = R(2, 3, 5, 7), R(2, 3, 5, 7)
    value[..., 4, :] = 1e9
    mask = (torch.arange(5) < 4)[None]
    assert seen(sdpa(attn_mask=mask), x, x, value).proved

    def wrong(self, q, k, v):
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mirada.record(q, k, mirada.Mask.allowed(mask), value=v, output=output + 1e-3)
        return output

    gaze = seen(Calls(wrong), x, x, value)
    assert [run[0].proved for run in gaze.runs] == [True, False]


@pytest.mark.parametrize("what", ["jagged", "strided", "vmap", "grad"])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:There is a performance drop")
def test_tensors_that_cannot_be_kept_run_as_they_would_and_are_listed(what):
    x, attend = R(2, 3, 5, 7), F.scaled_dot_product_attention
    if what in ("jagged", "strided"):
        layout = torch.jagged if what == "jagged" else torch.strided
        x = torch.nested.nested_tensor([R(3, 2, 7), R(5, 2, 7)], layout=layout).transpose(1, 2)
        x = x.contiguous() if what == "strided" else x
    elif what == "vmap":
        attend = torch.vmap(attend)
        x = x[:, :, None]
    else:
        attend = torch.func.grad(lambda q, k, v: F.scaled_dot_product_attention(q, k, v).sum())
    model = Calls(lambda self, x: attend(x, x, x))
    expected = flat(model(x))
    with pytest.raises(mirada.NothingSeen, match=r"nested tensors|torch\.func"), mirada.watch(model) as gaze:
        found = flat(model(x))
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))
    assert [path for path, _ in gaze.unseen] == [""]
