"""PyTorch's own transformer in all its modes: its fast paths are taken, and are seen."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from watched import Calls, close, flat, gradients, same, seen

import mirada
from mirada import Mask

PADDING = torch.tensor([[False] * 7, [False] * 4 + [True] * 3])
MASKS = {
    "none": {},
    "padding": {"src_key_padding_mask": PADDING},
    "table": {"mask": torch.arange(49).reshape(7, 7) % 5 == 1},
    "causal": {"mask": nn.Transformer.generate_square_subsequent_mask(7), "is_causal": True},
}


class Spy:
    """Counts how often PyTorch comes to one of its fast paths, and looks who listens there."""

    def __init__(self, monkeypatch, name: str):
        self.calls = 0
        function = getattr(torch, name)

        def spy(*args, **kwargs):
            self.calls += 1
            assert torch._C._len_torch_function_stack() == 0
            return function(*args, **kwargs)

        monkeypatch.setattr(torch, name, spy)


def encoder(depth=2, nested=True, **options) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(12, 2, 20, batch_first=True, **options)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=nested)


def told_apart(model: nn.TransformerEncoder, x, kwargs) -> list:
    """The weights of each layer as PyTorch says them, on its slow path."""
    found, layer_kwargs = [], {"attn_mask": kwargs.get("mask"), "key_padding_mask": None}
    hidden = kwargs.get("src_key_padding_mask")
    if hidden is not None:
        layer_kwargs["key_padding_mask"] = torch.where(hidden, -torch.inf, 0.0)
    for layer in model.layers:
        y = layer.norm1(x) if layer.norm_first else x
        found.append(layer.self_attn(y, y, y, average_attn_weights=False, **layer_kwargs)[1])
        x = layer(x, src_mask=kwargs.get("mask"), src_key_padding_mask=layer_kwargs["key_padding_mask"])
    return found


# pt#128413, pt#82919: the encoder layer in inference mode does not come to any attention function by name.
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("options", [{"norm_first": True}, {"activation": "gelu"}, {"bias": False}], ids=str)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_the_fast_path_of_an_encoder(monkeypatch, mask, nested, options, mode, recwarn):
    model = encoder(nested=nested and "norm_first" not in options and options.get("bias", True), **options)
    model.eval()
    x = torch.randn(2, 7, 12)
    with mode():
        spy = Spy(monkeypatch, "_transformer_encoder_layer_fwd")
        gaze = seen(model, x, **mask)
        fast = spy.calls
        wanted = told_apart(model, x, mask)
    assert fast == (4 if options.get("bias", True) else 0)
    assert gaze.proved
    assert [look.path for look in gaze] == ["layers.0.self_attn", "layers.1.self_attn"]
    assert {(look.kind, look.training) for look in gaze} == {("self", False)}
    for look, weights in zip(gaze, wanted, strict=True):
        found = look.weights()
        if "src_key_padding_mask" in mask:
            assert not found[1, :, :, 4:].any()
            if found.shape[-1] == 7:
                found, weights = (
                    found[:, :, :4],
                    weights[:, :, :4],
                )  # rows of padding are what each makes of it
        close(found, weights, 2e-6)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_an_encoder_in_training(monkeypatch, mask, dropout):
    model = encoder(nested=False, dropout=dropout)
    spy = Spy(monkeypatch, "_transformer_encoder_layer_fwd")
    gaze = seen(model, torch.randn(2, 7, 12), **mask)
    assert spy.calls == 0
    assert gaze.proved
    for look in gaze:
        close(look.weights().sum(-1), torch.ones(2, 2, 7))
    args = torch.randn(2, 7, 12), mask.get("mask"), mask.get("src_key_padding_mask")
    for a, b in zip(
        gradients(model, *args, watched=True), gradients(model, *args, watched=False), strict=True
    ):
        assert torch.equal(a, b)


@pytest.mark.parametrize("need", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("hidden", [None, PADDING])
def test_the_fast_path_of_multihead_attention(monkeypatch, need, average, hidden):
    layer = nn.MultiheadAttention(12, 2, batch_first=True).eval()
    x = torch.randn(2, 7, 12)
    spy = Spy(monkeypatch, "_native_multi_head_attention")
    with torch.no_grad():
        kwargs = {"need_weights": need, "average_attn_weights": average, "key_padding_mask": hidden}
        gaze = seen(layer, x, x, x, **kwargs)
        assert spy.calls == 2
        wanted = layer(x, x, x, average_attn_weights=False, key_padding_mask=hidden)[1]
    assert gaze.proved
    close(gaze[0].weights(), wanted)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
def test_the_whole_transformer(training, norm_first, recwarn):
    model = nn.Transformer(12, 2, 2, 3, 20, norm_first=norm_first, batch_first=True).train(training)
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    args = torch.randn(2, 7, 12), torch.randn(2, 5, 12)
    with torch.set_grad_enabled(training):
        gaze = seen(model, *args, tgt_mask=causal, tgt_is_causal=True)
    assert gaze.proved
    # bertviz#74, #121: an encoder and a decoder of different depths.
    assert [(look.kind, look.rows, look.keys) for look in gaze] == [
        *[("self", 7, 7)] * 2,
        *[("self", 5, 5), ("cross", 5, 7)] * 3,
    ]
    assert gaze["decoder.layers.1.multihead_attn"].kind == "cross"
    for look in list(gaze)[2::2]:
        assert not look.weights().triu(1).any()


def test_masks_are_kept_once():
    model = encoder(depth=3, nested=False).eval()
    mask = torch.arange(49).reshape(7, 7) % 5 == 1
    with torch.no_grad(), mirada.watch(model) as gaze:
        model(torch.randn(2, 7, 12), mask)
    assert len({id(part.tensor) for look in gaze for part in look.calls[0].mask.parts}) == 1


class ByTheirName(nn.Module):
    """Attention inside nn.TransformerEncoder that is not PyTorch's."""

    def __init__(self, attend):
        super().__init__()
        self.attend = attend
        self.self_attn = nn.Module()
        self.self_attn.batch_first = True  # nn.TransformerEncoder asks for it

    def forward(self, x, **_):
        y = x.unflatten(-1, (2, 6)).transpose(1, 2)
        return self.attend(y, y, y).transpose(1, 2).flatten(2)


class OfTheirOwn(nn.TransformerEncoderLayer):
    def forward(self, src, **_):
        y = src.unflatten(-1, (2, 6)).transpose(1, 2)
        return super().forward(src + F.scaled_dot_product_attention(y, y, y).transpose(1, 2).flatten(2))


def test_somebody_elses_layer_in_an_encoder_is_seen_too():
    saved = F.scaled_dot_product_attention
    mine = ByTheirName(lambda q, k, v: mirada.attention(q, k, v, Mask.causal()))
    model = nn.TransformerEncoder(ByTheirName(saved), 1, enable_nested_tensor=False)
    model.layers.append(mine)
    model.num_layers = 2
    gaze = seen(model.eval(), torch.randn(2, 7, 12))
    assert [look.kernel for look in gaze] == ["sdpa", "mirada.attention"]
    assert repr(gaze[1].calls[0].mask) == "Mask.causal()"


def test_a_layer_that_is_more_than_pytorchs(monkeypatch):
    model = nn.TransformerEncoder(
        OfTheirOwn(12, 2, 20, batch_first=True), 2, enable_nested_tensor=False
    ).eval()
    before = OfTheirOwn.__dict__["forward"]
    spy = Spy(monkeypatch, "_transformer_encoder_layer_fwd")
    with torch.no_grad():
        gaze = seen(model, torch.randn(2, 7, 12))
    assert spy.calls == 4
    assert OfTheirOwn.__dict__["forward"] is before
    assert gaze.proved
    assert [look.kernel for run in gaze.runs for look in run].count("sdpa") == 2
    assert [look.kernel for run in gaze.runs for look in run].count("multi-head attention") == 2


def test_another_mode_on_top_is_obeyed(monkeypatch):
    """A mode of somebody else's switches the fast path off, watched or not: outputs stay the same."""
    model = encoder().eval()
    x = torch.randn(2, 7, 12)
    spy = Spy(monkeypatch, "_transformer_encoder_layer_fwd")
    with torch.no_grad(), torch.device("cpu"):
        expected = model(x)
        with mirada.watch(model) as gaze:
            found = model(x)
        with mirada.watch(model) as other, torch.device("cpu"):
            assert same(model(x), expected)
    assert spy.calls == 0
    assert same(found, expected)
    assert gaze.proved
    assert other.proved
    assert len(gaze) == len(other) == 2


def test_a_nested_tensor_as_input(recwarn):
    model = encoder(depth=1).eval()
    x = torch.nested.nested_tensor([torch.randn(3, 12), torch.randn(5, 12)])
    with torch.no_grad():
        expected = flat(model(x))
        with mirada.watch(model) as gaze:
            found = flat(model(x))
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))
    assert gaze.proved
    assert not gaze[0].weights()[0, :, :, 3:].any()


def test_a_decoder_layer_alone():
    layer = Calls(lambda self, x, y: self.part(x, y), part=nn.TransformerDecoderLayer(12, 2, 20, 0.0))
    gaze = seen(layer, torch.randn(5, 2, 12), torch.randn(7, 2, 12))
    assert [(look.path, look.kind) for look in gaze] == [
        ("part.self_attn", "self"),
        ("part.multihead_attn", "cross"),
    ]


@pytest.mark.parametrize("name", ["_transformer_encoder_layer_fwd", "_native_multi_head_attention"])
def test_a_fast_path_that_makes_something_else_is_marked(monkeypatch, name):
    function = getattr(torch, name)

    def off(*args, **kwargs):
        found = function(*args, **kwargs)
        return (1.01 * found[0], found[1]) if isinstance(found, tuple) else 1.01 * found

    monkeypatch.setattr(torch, name, off)
    model = encoder(nested=False).eval()
    if name == "_native_multi_head_attention":
        model = Calls(lambda self, x: self.part(x, x, x), part=model.layers[0].self_attn)
    with torch.no_grad():
        assert seen(model, torch.randn(2, 7, 12)).proved is False


def test_a_function_that_somebody_replaced(monkeypatch):
    function = F.multi_head_attention_forward

    def theirs(*args, **kwargs):
        return function(*args, **kwargs)

    monkeypatch.setattr(F, "multi_head_attention_forward", theirs)
    model = Calls(lambda self, x: self.part(x, x, x), part=nn.MultiheadAttention(12, 2))
    x = torch.randn(7, 2, 12)
    expected = flat(model(x))
    with pytest.raises(mirada.NothingSeen, match="was replaced by"), mirada.watch(model):
        assert all(same(a, b) for a, b in zip(flat(model(x)), expected, strict=True))
