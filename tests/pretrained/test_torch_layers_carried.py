"""from_torch and to_torch: what comes along beside the weights, and what is refused by name."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch_pairs import D_CONTEXT, D_MLP, D_MODEL, HEADS, attention, decoder, encoder, inputs

from mirada import BlockConfig, MultiHeadAttention, RotaryPositions, TransformerBlock, from_torch, to_torch

BUILDS = [attention, encoder, decoder]
WIDE = {"kdim": D_CONTEXT, "vdim": D_CONTEXT}


def our_layers(**options):
    """One of each kind that PyTorch can say."""
    torch.manual_seed(0)
    configs = [
        BlockConfig(),
        BlockConfig(norm_first=False, activation="gelu_tanh", eps=0.01, bias=False, dropout=0.25),
        BlockConfig(activation="gelu", cross_attention=True),
        BlockConfig(cross_attention=True, d_context=D_CONTEXT, norm_first=False),
    ]
    return [
        MultiHeadAttention(D_MODEL, HEADS, **options),
        MultiHeadAttention(D_MODEL, HEADS, d_context=D_CONTEXT, bias=False, dropout=0.25, **options),
        *(TransformerBlock(D_MODEL, HEADS, D_MLP, config, **options) for config in configs),
    ]


def assert_same_state(first, second):
    first, second = first.state_dict(), second.state_dict()
    assert list(first) == list(second)
    for name in first:
        assert first[name].dtype == second[name].dtype
        assert torch.equal(first[name], second[name])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_round_trips_are_bit_exact(dtype):
    for theirs in (
        *(build(dtype) for build in BUILDS),
        attention(dtype, **WIDE),
        attention(dtype, bias=False),
    ):
        assert_same_state(to_torch(from_torch(theirs)), theirs)
    for ours in our_layers(dtype=dtype):
        there_and_back = from_torch(to_torch(ours))
        assert_same_state(there_and_back, ours)
        if isinstance(ours, TransformerBlock):
            assert there_and_back.config == ours.config
        assert repr(there_and_back) == repr(ours)


@pytest.mark.parametrize("build", BUILDS)
def test_weights_are_copied_and_never_shared(build):
    theirs = build()
    ours = from_torch(theirs)
    back = to_torch(ours)
    layers = (theirs, ours, back)
    storages = [{p.untyped_storage().data_ptr() for p in layer.parameters()} for layer in layers]
    assert len(set.union(*storages)) == sum(len(list(layer.parameters())) for layer in layers)
    before = copy.deepcopy(ours.state_dict())
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.fill_(7)
    for name, tensor in ours.state_dict().items():
        assert torch.equal(tensor, before[name])


@pytest.mark.parametrize("build", BUILDS)
def test_no_random_number_is_drawn(build):
    theirs = build()
    state = torch.get_rng_state()
    to_torch(from_torch(theirs))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("training", [True, False])
def test_the_mode_is_carried(build, training):
    ours = from_torch(build().train(training))
    assert {part.training for part in ours.modules()} == {training}
    assert {part.training for part in to_torch(ours).modules()} == {training}


@pytest.mark.parametrize("build", BUILDS)
def test_the_dropout_is_carried(build):
    ours = from_torch(build(dropout=0.25))
    back = to_torch(ours)
    dropouts = {part.p for part in (*ours.modules(), *back.modules()) if isinstance(part, nn.Dropout)}
    assert dropouts == (set() if build is attention else {0.25})
    for kind in (MultiHeadAttention, nn.MultiheadAttention):
        heads = [part for part in (*ours.modules(), *back.modules()) if isinstance(part, kind)]
        assert [part.dropout for part in heads] == [0.25] * (2 if build is decoder else 1)


@pytest.mark.parametrize("build", BUILDS)
def test_device_and_dtype_are_carried(build):
    for theirs in (build().to("meta"), build(torch.float16)):
        wanted = {(p.device, p.dtype) for p in theirs.parameters()}
        ours = from_torch(theirs)
        assert {(p.device, p.dtype) for p in ours.parameters()} == wanted
        assert {(p.device, p.dtype) for p in to_torch(ours).parameters()} == wanted


@pytest.mark.parametrize("build", BUILDS)
def test_frozen_parameters_stay_frozen(build):
    theirs = build()
    assert all(parameter.requires_grad for parameter in from_torch(theirs).parameters())
    for parameter in list(theirs.parameters())[1::2]:
        parameter.requires_grad_(False)
    ours = from_torch(theirs)
    assert 0 < sum(parameter.requires_grad for parameter in ours.parameters()) < len(list(ours.parameters()))
    back = to_torch(ours)
    wanted = {name: parameter.requires_grad for name, parameter in theirs.named_parameters()}
    assert {name: parameter.requires_grad for name, parameter in back.named_parameters()} == wanted
    with torch.no_grad():  # carrying without gradients does not freeze
        assert all(parameter.requires_grad for parameter in from_torch(build()).parameters())


def test_what_comes_out_can_be_saved_and_copied():
    for ours in our_layers():
        theirs = to_torch(ours)
        assert_same_state(copy.deepcopy(theirs), theirs)
        assert_same_state(pickle.loads(pickle.dumps(theirs)), theirs)
    assert isinstance(to_torch(our_layers()[2]), nn.TransformerEncoderLayer)
    assert isinstance(to_torch(our_layers()[4]), nn.TransformerDecoderLayer)


def test_a_cross_attention_of_another_width_is_carried_within_a_decoder_layer():
    theirs = decoder(batch_first=True)
    theirs.multihead_attn = attention(batch_first=True, **WIDE)
    x, context = inputs(d_context=D_CONTEXT)
    ours = from_torch(theirs)
    assert ours.config.d_context == D_CONTEXT
    torch.testing.assert_close(ours(x, context), theirs(x, context), rtol=0, atol=1e-13)
    torch.testing.assert_close(to_torch(ours)(x, context), theirs(x, context), rtol=0, atol=1e-13)


def test_a_subclass_that_computes_nothing_else_is_carried():
    class Named(nn.TransformerEncoderLayer):
        nickname = "mine"

    layer = Named(D_MODEL, HEADS, D_MLP, 0.0, batch_first=True)
    x, _ = inputs(torch.float32)
    torch.testing.assert_close(from_torch(layer)(x), layer(x), rtol=0, atol=1e-6)


class OwnForward(nn.MultiheadAttention):
    def forward(self, *given, **named):
        return super().forward(*given, **named)


class OwnFeedForward(nn.TransformerEncoderLayer):
    def _ff_block(self, x):
        return x


class OwnCross(nn.TransformerDecoderLayer):
    def _mha_block(self, x, *rest):
        return x


class OwnLinear(nn.Linear):
    def forward(self, input):
        return input


class OurOwn(MultiHeadAttention):
    def forward(self, x, *rest, **named):
        return x


def patched():
    layer = encoder()
    layer.forward = lambda x: x
    return layer


def changed(build, **parts):
    """A layer in which parts were put by hand; dots in names are written as __."""
    layer = build()
    for name, part in parts.items():
        owner, _, leaf = name.rpartition("__")
        setattr(layer.get_submodule(owner.replace("__", ".")), leaf, part)
    return layer


FOREIGN = {
    "takes nn.MultiheadAttention.*got Linear": lambda: nn.Linear(3, 5),
    "got TransformerEncoder; of a stack, convert each": lambda: nn.TransformerEncoder(
        encoder(batch_first=True), 2
    ),
    "got MultiHeadAttention": lambda: MultiHeadAttention(D_MODEL, HEADS),
    "OwnForward has a forward of its own": lambda: OwnForward(D_MODEL, HEADS),
    "OwnFeedForward has a _ff_block of its own": lambda: OwnFeedForward(D_MODEL, HEADS),
    "OwnCross has a _mha_block of its own": lambda: OwnCross(D_MODEL, HEADS),
    "TransformerEncoderLayer has a forward of its own": patched,
    "linear1: OwnLinear has a forward": lambda: changed(encoder, linear1=OwnLinear(D_MODEL, D_MLP)),
    "OwnForward has": lambda: changed(encoder, self_attn=OwnForward(D_MODEL, HEADS)),
    "norm2: expected LayerNorm, got RMSNorm": lambda: changed(encoder, norm2=nn.RMSNorm(D_MODEL)),
    "dropout3: expected Dropout, got Identity": lambda: changed(decoder, dropout3=nn.Identity()),
    "out_proj: expected Linear, got Identity": lambda: changed(attention, out_proj=nn.Identity()),
}
UNSAYABLE = {
    f"kdim={D_CONTEXT} and vdim={D_MODEL} differ": lambda: attention(kdim=D_CONTEXT),
    "add_bias_kv=True": lambda: attention(add_bias_kv=True),
    "add_zero_attn=True": lambda: attention(add_zero_attn=True),
    "activation=SiLU": lambda: encoder(activation=nn.SiLU()),
    "activation=<function": lambda: decoder(activation=lambda x: x),
    "activation=<built-in.*sigmoid": lambda: encoder(activation=torch.sigmoid),
    r"dropouts differ within the layer: 0\.0, 0\.5": lambda: changed(encoder, dropout1__p=0.5),
    r"dropouts differ .*0\.5$": lambda: changed(decoder, multihead_attn__dropout=0.5),
    r"eps differ within the layer: .*0\.1": lambda: changed(decoder, norm3__eps=0.1),
    f"num_heads differ within the layer: {HEADS}, 1": lambda: changed(
        decoder, multihead_attn=nn.MultiheadAttention(D_MODEL, 1)
    ),
    "training modes differ": lambda: changed(encoder, dropout1__training=False),
    "a bias has shape None where": lambda: changed(encoder, linear2=nn.Linear(D_MLP, D_MODEL, bias=False)),
    rf"a weight has shape \({D_MODEL}, 3\)": lambda: changed(decoder, linear2=nn.Linear(3, D_MODEL)),
    "a weight has shape None": lambda: changed(
        encoder, norm1=nn.LayerNorm(D_MODEL, elementwise_affine=False)
    ),
}
OURS_FOREIGN = {
    "takes MultiHeadAttention or TransformerBlock, got MultiheadAttention": attention,
    "OurOwn has a forward of its own": lambda: OurOwn(D_MODEL, HEADS),
    "mlp: expected MLP, got Identity": lambda: changed(our_block, mlp=nn.Identity()),
    "mlp.hidden_proj: OwnLinear": lambda: changed(our_block, mlp__hidden_proj=OwnLinear(D_MODEL, D_MLP)),
    "qkv_proj: OwnLinear": lambda: changed(our_block, attention__qkv_proj=OwnLinear(D_MODEL, 3 * D_MODEL)),
}


def our_block(**options):
    return TransformerBlock(D_MODEL, HEADS, D_MLP, BlockConfig(**options))


def half_frozen():
    layer = MultiHeadAttention(D_MODEL, HEADS, d_context=D_CONTEXT)
    layer.kv_proj.bias.requires_grad_(False)
    return layer


OURS_UNSAYABLE = {
    "num_kv_heads=1": lambda: MultiHeadAttention(D_MODEL, HEADS, num_kv_heads=1),
    "head_dim=7": lambda: MultiHeadAttention(D_MODEL, HEADS, head_dim=7),
    "rotary": lambda: MultiHeadAttention(12, 2, rotary=RotaryPositions(6)),
    "num_kv_heads=1:": lambda: our_block(num_kv_heads=1),
    "head_dim=7:": lambda: our_block(head_dim=7, cross_attention=True),
    "head_dim=9:": lambda: TransformerBlock(5, 3, 7, BlockConfig(head_dim=9)),  # theirs could not be built
    "rotary:": lambda: TransformerBlock(12, 2, 7, BlockConfig(rotary=RotaryPositions(6))),
    'norm="rms"': lambda: our_block(norm="rms"),
    'activation="swiglu"': lambda: our_block(activation="swiglu"),
    r"dropouts differ.*0\.5": lambda: changed(our_block, mlp__dropout__p=0.5),
    r"eps differ.*0\.5": lambda: changed(our_block, norm2__eps=0.5),
    "training modes differ": lambda: changed(our_block, attention__training=False),
    "requires_grad differ": half_frozen,
}


@pytest.mark.parametrize("says", FOREIGN)
def test_from_torch_refuses_what_computes_otherwise(says):
    layer = FOREIGN[says]()
    with pytest.raises(TypeError, match=says):
        from_torch(layer)


@pytest.mark.parametrize("says", UNSAYABLE)
def test_from_torch_refuses_by_name_what_ours_cannot_say(says):
    layer = UNSAYABLE[says]()
    with pytest.raises(ValueError, match=says):
        from_torch(layer)


@pytest.mark.parametrize("says", OURS_FOREIGN)
def test_to_torch_refuses_what_computes_otherwise(says):
    layer = OURS_FOREIGN[says]()
    with pytest.raises(TypeError, match=says):
        to_torch(layer)


@pytest.mark.parametrize("says", OURS_UNSAYABLE)
def test_to_torch_refuses_by_name_what_theirs_cannot_say(says):
    layer = OURS_UNSAYABLE[says]()
    with pytest.raises(ValueError, match=says):
        to_torch(layer)
