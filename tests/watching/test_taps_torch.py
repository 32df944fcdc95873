"""Our layers, and PyTorch's multi-head attention: seen whole, exact, and left as they are."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from watched import Calls, close, gradients, seen

import mirada
from mirada import BlockConfig, KVCache, Mask, MultiHeadAttention, RotaryPositions, TransformerBlock

MASKS = {
    "none": None,
    "causal": Mask.causal(),
    "window": Mask.causal() & Mask.window(3),
    "right padding": Mask.padding([7, 4]),
    "left padding": Mask.causal() & Mask.padding([7, 4], side="left"),
    "table": Mask.allowed(torch.arange(49).reshape(7, 7) % 3 > 0),
    "bias": Mask.bias(torch.linspace(-2, 3, 3 * 49).reshape(3, 7, 7)),
    "nobody": Mask.padding([0, 7]),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_our_own_layer(mask, dtype):
    layer = MultiHeadAttention(15, 3, dtype=dtype)
    x = torch.randn(2, 7, 15, dtype=dtype)
    gaze = seen(layer, x, mask=mask)
    (look,) = gaze
    assert (look.path, look.kind, look.heads, len(gaze.runs)) == ("", "self", (0, 1, 2), 1)
    assert repr(look.calls[0].mask) == repr(mask)  # symbolic as it was given
    assert gaze.proved
    close(look.weights(), layer.weights(x, mask=mask), 1e-2 if dtype == torch.bfloat16 else 1e-6)


@pytest.mark.parametrize("d_context", [None, 11])
def test_another_sequence(d_context):
    layer = MultiHeadAttention(15, 3, num_kv_heads=1, d_context=d_context)
    x, context = torch.randn(2, 5, 15), torch.randn(2, 7, d_context or 15)
    (look,) = seen(layer, x, context, Mask.padding([7, 3]))
    assert (look.kind, look.num_kv_heads, look.rows, look.keys) == ("cross", 1, 5, 7)
    close(look.weights(), layer.weights(x, context, Mask.padding([7, 3])))


# TransformerLens#1553: 14 query heads over 2 key heads, each paired with its own.
def test_grouped_heads_and_rotary_positions():
    layer = MultiHeadAttention(28, 14, num_kv_heads=2, head_dim=6, rotary=RotaryPositions(6))
    x = torch.randn(1, 5, 28)
    (look,) = seen(layer, x, mask=Mask.causal())
    close(look.weights(), layer.weights(x, mask=Mask.causal()))
    close(look.weights(heads=[1, 8]), layer.weights(x, mask=Mask.causal())[:, [1, 8]])


# transformers#30652: everything above the diagonal is exactly 0.
def test_a_stack_of_blocks_is_seen_layer_by_layer():
    config = BlockConfig(cross_attention=True, dropout=0.3, norm="rms")
    model = nn.ModuleList([TransformerBlock(10, 2, 20, config) for _ in range(3)])

    def run(self, x, context):
        for block in self.blocks:
            x = block(x, context, Mask.causal())
        return x

    gaze = seen(Calls(run, blocks=model), torch.randn(2, 5, 10), torch.randn(2, 3, 10))
    assert len(gaze) == 6
    assert len(gaze.runs) == 1
    assert {look.path.split(".")[1] for look in gaze} == {"0", "1", "2"}
    assert [look.kind for look in gaze] == ["self", "cross"] * 3
    for look in gaze:
        close(look.weights().sum(-1), torch.ones(2, 2, 5))
        if look.kind == "self":
            assert not look.weights().triu(1).any()
    assert gaze.proved


# transformers#26174, #33296, #40752: the steps of a generation are joined, and labelled right.
def test_decoding_step_by_step_joins():
    layer = MultiHeadAttention(15, 3, head_dim=6, rotary=RotaryPositions(6)).eval()
    cache = KVCache(2, 3, 11, 6)
    x = torch.randn(2, 9, 15)
    with torch.no_grad(), mirada.watch(layer) as gaze:
        layer(x[:, :6], mask=Mask.causal(), cache=cache)
        for i in range(6, 9):
            layer(x[:, i : i + 1], mask=Mask.causal(), cache=cache)
    (look,) = gaze
    assert (len(gaze.runs), look.steps, look.rows, look.keys) == (1, 4, 9, 9)
    assert look.positions == list(range(9))
    close(look.weights(), layer.weights(x, mask=Mask.causal()), 1e-5)
    assert look.states()[0, 0, 6].tolist() == [0] * 7 + [2] * 2  # not there yet
    assert look.states()[0, 0, 3].tolist() == [0] * 4 + [1] * 2 + [2] * 3


# unsloth#9848: rows of padding are zero, not NaN; and what stands in padding does not unprove a look.
def test_padding_that_is_not_a_number():
    layer = MultiHeadAttention(15, 3)
    x = torch.randn(2, 7, 15)
    x[1, 4:] = float("nan")
    mask = Mask.padding([7, 4])
    gaze = seen(Calls(lambda self, x: mirada.attention(x, x, x, mask)), x[:, None])
    assert gaze.proved
    assert gaze[0].weights()[1, :, :4].isfinite().all()
    assert not gaze[0].weights()[1, :, :4, 4:].any()
    bias = mask & Mask.bias(torch.zeros(7, 7))
    gaze = seen(Calls(lambda self, x: mirada.attention(x, x, x, bias)), x[:, None])
    assert gaze.proved
    assert gaze[0].weights()[1, :, :4].isfinite().all()
    assert not seen(layer, x.nan_to_num(), mask=Mask.padding([0, 7]))[0].weights()[0].any()


OPTIONS = [
    {},
    {"batch_first": True},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"kdim": 5, "vdim": 11},
    {"bias": False, "batch_first": True, "add_bias_kv": True, "add_zero_attn": True},
]


def wanted_weights(layer: nn.MultiheadAttention, *args, **kwargs) -> torch.Tensor:
    """What PyTorch says itself, when it is asked, without dropout."""
    training = layer.training
    layer.eval()
    weights = layer(*args, **{**kwargs, "need_weights": True, "average_attn_weights": False})[1]
    layer.train(training)
    return weights if weights.dim() == 4 else weights[None]


# pt#131947: need_weights both ways, and still seen head by head.
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_multihead_attention_of_pytorch(options, training, mode):
    layer = nn.MultiheadAttention(15, 3, **options).train(training)
    length = (2, 7) if options.get("batch_first") else (7, 2)
    query = torch.randn(*((2, 5) if options.get("batch_first") else (5, 2)), 15)
    key, value = (torch.randn(*length, size or 15) for size in (options.get("kdim"), options.get("vdim")))
    for need, average in itertools.product([True, False], repeat=2):
        asked = {"need_weights": need, "average_attn_weights": average}
        with mode():
            gaze = seen(layer, query, key, value, **asked)
            wanted = wanted_weights(layer, query, key, value)
        assert gaze.proved
        assert (gaze[0].path, gaze[0].kind, gaze[0].training) == ("", "cross", training)
        close(gaze[0].weights(), wanted)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("padding", [True, False])
@pytest.mark.parametrize("attn_mask", [None, "bool", "bool 3-D", "float", "float 3-D", "causal"])
def test_masks_of_multihead_attention(training, padding, attn_mask):
    layer = nn.MultiheadAttention(15, 3, batch_first=True).train(training)
    x = torch.randn(2, 7, 15)
    kwargs = {}
    if attn_mask == "causal":
        kwargs = {"attn_mask": nn.Transformer.generate_square_subsequent_mask(7), "is_causal": True}
    elif attn_mask:
        table = torch.randn(6, 7, 7) if "3-D" in attn_mask else torch.randn(7, 7)
        table[..., 0] = -1  # nobody is left without a key
        kwargs["attn_mask"] = table > 0 if "bool" in attn_mask else table
    if padding:
        hidden = torch.tensor([[False] * 7, [False] * 4 + [True] * 3])
        is_float = attn_mask in ("causal", "float", "float 3-D")
        kwargs["key_padding_mask"] = torch.where(hidden, -torch.inf, 0.0) if is_float else hidden
    for need in (True, False):
        with torch.set_grad_enabled(training):
            gaze = seen(layer, x, x, x, need_weights=need, **kwargs)
            wanted = wanted_weights(layer, x, x, x, **kwargs)
        assert gaze.proved
        assert gaze[0].kind == "self"
        close(gaze[0].weights(), wanted)


@pytest.mark.parametrize("training", [True, False])
def test_without_a_batch(training):
    layer = nn.MultiheadAttention(15, 5).train(training)
    x = torch.randn(7, 15)
    with torch.set_grad_enabled(training):
        close(seen(layer, x, x, x)[0].weights(), wanted_weights(layer, x, x, x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("training", [True, False])
def test_dtypes_of_multihead_attention(dtype, training):
    layer = nn.MultiheadAttention(15, 3, dtype=dtype).train(training)
    x = torch.randn(7, 2, 15, dtype=dtype)
    with torch.set_grad_enabled(training):
        gaze = seen(layer, x, x, x)
        assert gaze.proved
        close(gaze[0].weights(), wanted_weights(layer, x, x, x), 2e-2 if dtype == torch.bfloat16 else 1e-6)


# fast-transformers#131: weights before dropout, whose rows sum to 1; and the random numbers are the same.
@pytest.mark.parametrize("need", [True, False])
def test_dropout_in_training(need):
    layer = nn.MultiheadAttention(15, 3, dropout=0.5)
    x = torch.randn(7, 2, 15)
    gaze = seen(layer, x, x, x, need_weights=need)  # compares the generator's state, too
    assert gaze.proved
    close(gaze[0].weights().sum(-1), torch.ones(2, 3, 7))
    close(gaze[0].weights(), wanted_weights(layer, x, x, x))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_size_of_what_follows_does_not_unprove(scale):
    layer = nn.MultiheadAttention(15, 3)
    with torch.no_grad():
        layer.out_proj.weight.mul_(scale)
    x = torch.randn(7, 2, 15)
    assert seen(layer, x, x, x).proved
    with torch.no_grad():
        assert seen(layer.eval(), x, x, x).proved


@pytest.mark.parametrize("model", [MultiHeadAttention(15, 3, dropout=0.2), nn.MultiheadAttention(15, 3, 0.2)])
def test_gradients_stay(model):
    x = torch.randn(7, 2, 15)
    args = (x,) if isinstance(model, MultiHeadAttention) else (x, x, x)
    for a, b in zip(
        gradients(model, *args, watched=True), gradients(model, *args, watched=False), strict=True
    ):
        assert torch.equal(a, b)


def test_the_function_itself_and_a_saved_name_of_it():
    saved = F.multi_head_attention_forward
    layer = nn.MultiheadAttention(15, 3)
    x = torch.randn(7, 2, 15)
    rest = (15, 3, layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.0)

    def run(self, x, function):
        return function(
            x, x, x, *rest, self.part.out_proj.weight, self.part.out_proj.bias, need_weights=False
        )

    for function in (saved, None):
        model = Calls(
            lambda self, x, f=function: run(self, x, f or F.multi_head_attention_forward), part=layer
        )
        gaze = seen(model, x)
        assert gaze.proved
        close(gaze[0].weights(), wanted_weights(layer, x, x, x))


@pytest.mark.parametrize("lead", [(), (2,), (2, 3, 5)])
def test_what_needs_no_table_builds_none_whatever_the_dimensions(lead):
    mask = Mask.causal() & Mask.window(3)
    x = torch.randn(*lead, 7, 5)
    look = seen(Calls(lambda self, x: mirada.attention(x, x, x, mask)), x)[0]
    assert repr(look.masks[0]) == "Mask.causal() & Mask.window(3)"
    wanted = mirada.attention_weights(x, x, mask).reshape(-1, 7, 7)
    close(look.weights().flatten(0, 1), wanted, 1e-6)
