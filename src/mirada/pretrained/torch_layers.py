"""Weights carried between PyTorch's attention layers and ours, both ways.

Nothing is approximated: what the other side cannot say is refused by name. Weights are copied, never
shared, and no random number is drawn: layers are built on the meta device and then filled.
"""

from functools import partial
from typing import Any, TypeVar, overload

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.layers.block import MLP, Activation, BlockConfig, TransformerBlock
from mirada.layers.multihead import MultiHeadAttention

# The parts of a block, by PyTorch's name and by ours.
_HEADS = {"self_attn": "attention", "multihead_attn": "cross_attention"}
_ENCODER = {"norm1": "norm1", "norm2": "norm2", "linear1": "mlp.hidden_proj", "linear2": "mlp.output_proj"}
_DECODER = _ENCODER | {"norm2": "norm_cross", "norm3": "norm2"}

# The methods with which a subclass could compute something else.
_METHODS = ("forward", "_heads", "_sa_block", "_mha_block", "_ff_block")

_TheirBlock = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
_Layer = TypeVar("_Layer", bound=nn.Module)


@overload
def from_torch(layer: nn.MultiheadAttention) -> MultiHeadAttention: ...
@overload
def from_torch(layer: _TheirBlock) -> TransformerBlock: ...
def from_torch(layer: nn.Module) -> MultiHeadAttention | TransformerBlock:
    """Our layer with the weights of PyTorch's, for input of shape (batch, length, d_model).

    nn.MultiheadAttention becomes a MultiHeadAttention (kdim = vdim its d_context), nn.TransformerEncoderLayer
    a TransformerBlock, nn.TransformerDecoderLayer one with cross-attention. eps, activation, norm order,
    biases, dropout, mode, dtype, device and requires_grad come along; batch_first does not, since ours
    always read the batch first. In their boolean masks True means "may not look": that is Mask.blocked.
    Theirs takes nn.GELU("tanh") for the exact GELU on its fast path (no training, no gradients); ours never.

    Raises TypeError for another kind of layer or one that computes in a way of its own; ValueError, by
    name, for what ours cannot say: kdim other than vdim, add_bias_kv, add_zero_attn, an activation that is
    neither ReLU nor GELU, and heads, dropouts, eps, biases or modes that differ within a layer.
    """
    if isinstance(layer, nn.MultiheadAttention):
        return _attention_from(layer)
    if isinstance(layer, _TheirBlock):
        return _block_from(layer)
    raise TypeError(
        "from_torch takes nn.MultiheadAttention, nn.TransformerEncoderLayer or nn.TransformerDecoderLayer, "
        f"got {type(layer).__name__}; of a stack, convert each layer"
    )


@overload
def to_torch(layer: MultiHeadAttention) -> nn.MultiheadAttention: ...
@overload
def to_torch(layer: TransformerBlock) -> _TheirBlock: ...
def to_torch(layer: nn.Module) -> nn.Module:
    """PyTorch's layer with the weights of ours and batch_first=True: the way back from `from_torch`.

    MultiHeadAttention becomes an nn.MultiheadAttention, a TransformerBlock an nn.TransformerEncoderLayer,
    one with cross-attention an nn.TransformerDecoderLayer.

    Raises TypeError for another kind of layer or one that computes in a way of its own; ValueError, by
    name, for what theirs cannot say: grouped heads, rotary positions, a head_dim other than
    d_model / num_heads, RMSNorm, gated SiLU, and dropouts, eps, biases or modes that differ within a layer.
    """
    if isinstance(layer, MultiHeadAttention):
        return _attention_to(layer)
    if isinstance(layer, TransformerBlock):
        return _block_to(layer)
    raise TypeError(f"to_torch takes MultiHeadAttention or TransformerBlock, got {type(layer).__name__}")


def _attention_from(theirs: nn.MultiheadAttention) -> MultiHeadAttention:
    _check_kind(theirs, nn.MultiheadAttention)
    if theirs.kdim != theirs.vdim:
        raise ValueError(f"kdim={theirs.kdim} and vdim={theirs.vdim} differ: ours look at one context")
    if theirs.bias_k is not None or theirs.bias_v is not None:
        raise ValueError("add_bias_kv=True: ours add no learned key and value")
    if theirs.add_zero_attn:
        raise ValueError("add_zero_attn=True: ours add no key and value of zeros")
    d_model, bias = theirs.embed_dim, theirs.in_proj_bias
    options = {"d_context": theirs.kdim, "bias": bias is not None, "dropout": theirs.dropout}
    ours = MultiHeadAttention(d_model, theirs.num_heads, device="meta", **options)
    if ours.d_context == d_model:
        _fill(ours.qkv_proj, weight=_copy(theirs.in_proj_weight), bias=_copy(bias))
    else:
        query, key_value = slice(d_model), slice(d_model, None)
        weight = _copy(theirs.k_proj_weight, theirs.v_proj_weight)
        _fill(ours.query_proj, weight=_copy(theirs.q_proj_weight), bias=_copy(bias, rows=query))
        _fill(ours.kv_proj, weight=weight, bias=_copy(bias, rows=key_value))
    return _carry(theirs, ours, {"out_proj": "output_proj"})


def _attention_to(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    _check_kind(ours, MultiHeadAttention)
    d_model, num_heads = ours.d_model, ours.num_heads
    if ours.num_kv_heads != num_heads:
        raise ValueError(f"num_kv_heads={ours.num_kv_heads}: theirs have as many as num_heads={num_heads}")
    if ours.head_dim * num_heads != d_model:
        raise ValueError(f"head_dim={ours.head_dim}: theirs is d_model / num_heads = {d_model} / {num_heads}")
    if ours.rotary is not None:
        raise ValueError("rotary: theirs have no rotary positions")
    bias, d_context = _part(ours, "output_proj", nn.Linear).bias is not None, ours.d_context
    theirs = nn.MultiheadAttention(
        d_model,
        num_heads,
        ours.dropout,
        bias,
        kdim=d_context,
        vdim=d_context,
        batch_first=True,
        device="meta",
    )
    if d_context == d_model:
        qkv = _part(ours, "qkv_proj", nn.Linear)
        _fill(theirs, in_proj_weight=_copy(qkv.weight), in_proj_bias=_copy(qkv.bias))
    else:
        query, key_value = _part(ours, "query_proj", nn.Linear), _part(ours, "kv_proj", nn.Linear)
        _fill(
            theirs,
            q_proj_weight=_copy(query.weight),
            k_proj_weight=_copy(key_value.weight, rows=slice(d_model)),
            v_proj_weight=_copy(key_value.weight, rows=slice(d_model, None)),
            in_proj_bias=_copy(query.bias, key_value.bias),
        )
    return _carry(ours, theirs, {"output_proj": "out_proj"})


def _block_from(theirs: _TheirBlock) -> TransformerBlock:
    cross = isinstance(theirs, nn.TransformerDecoderLayer)
    _check_kind(theirs, nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer)
    names = _DECODER if cross else _ENCODER
    heads = {
        ours: from_torch(getattr(theirs, name)) for name, ours in _HEADS.items() if hasattr(theirs, name)
    }
    dropouts = [name for name in ("dropout", "dropout1", "dropout2", "dropout3") if hasattr(theirs, name)]
    num_heads, eps, dropout = _settings(theirs, names, dropouts, heads)
    d_model = heads["attention"].d_model
    d_context = heads["cross_attention"].d_context if cross else d_model
    hidden = _part(theirs, "linear1", nn.Linear)
    config = BlockConfig(
        norm_first=theirs.norm_first,
        activation=_activation_name(theirs.activation),
        eps=eps,
        bias=hidden.bias is not None,
        dropout=dropout,
        cross_attention=cross,
        d_context=None if d_context == d_model else d_context,
    )
    ours = TransformerBlock(d_model, num_heads, hidden.out_features, config, device="meta")
    return _carry(theirs, ours, names, **heads)


def _block_to(ours: TransformerBlock) -> _TheirBlock:
    _check_kind(ours, TransformerBlock)
    _part(ours, "mlp", MLP)
    config, cross = ours.config, ours.config.cross_attention
    if config.norm != "layer":
        raise ValueError(f'norm="{config.norm}": theirs is LayerNorm')
    if config.activation == "swiglu":
        raise ValueError('activation="swiglu": theirs has no gate')
    names = {here: there for there, here in (_DECODER if cross else _ENCODER).items()}
    heads = {there: to_torch(getattr(ours, name)) for there, name in _HEADS.items() if hasattr(ours, name)}
    num_heads, eps, dropout = _settings(ours, names, ["dropout", "mlp.dropout"], heads)
    theirs = (nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer)(
        ours.d_model,
        num_heads,
        ours.d_mlp,
        dropout=dropout,
        activation=nn.GELU("tanh") if config.activation == "gelu_tanh" else config.activation,
        layer_norm_eps=eps,
        norm_first=config.norm_first,
        bias=_part(ours, "mlp.hidden_proj", nn.Linear).bias is not None,
        device="meta",
    )
    if config.activation == "gelu_tanh" and isinstance(theirs, nn.TransformerEncoderLayer):
        theirs.activation_relu_or_gelu = 0  # or the fast path takes it for the exact GELU
    return _carry(ours, theirs, names, **heads)  # the heads are batch_first


def _settings(layer: nn.Module, names: dict, dropouts: list, heads: dict) -> tuple[int, float, float]:
    """num_heads, eps and dropout of a block, whose parts must agree on them and on the mode."""
    norms = [_part(layer, name, nn.LayerNorm) for name in names if "norm" in name]
    drops = [_part(layer, name, nn.Dropout) for name in dropouts]
    _one("training modes", [part.training for part in (layer, *drops, *heads.values())])
    return (
        _one("num_heads", [part.num_heads for part in heads.values()]),
        _one("eps", [part.eps for part in norms]),
        _one("dropouts", [part.p for part in drops] + [part.dropout for part in heads.values()]),
    )


def _activation_name(activation: Any) -> Activation:
    if activation in (F.relu, torch.relu) or type(activation) is nn.ReLU:
        return "relu"
    if isinstance(activation, partial) and activation.func is F.gelu:
        activation = nn.GELU(**activation.keywords)
    if activation is F.gelu or type(activation) is nn.GELU:
        return "gelu_tanh" if getattr(activation, "approximate", "none") == "tanh" else "gelu"
    raise ValueError(f"activation={activation}: ours know ReLU, and GELU, exact or by tanh")


def _carry(source: nn.Module, target: _Layer, names: dict[str, str], **heads: nn.Module) -> _Layer:
    """Give the target the weights of the source's parts (names: there to here), its mode, and these heads."""
    for there, here in names.items():
        part = target.get_submodule(here)
        given = _part(source, there, nn.LayerNorm if isinstance(part, nn.LayerNorm) else nn.Linear)
        _fill(part, weight=_copy(given.weight), bias=_copy(given.bias))
    for name, layer in heads.items():
        setattr(target, name, layer)
    return target.train(source.training)


def _fill(module: nn.Module, **parameters: nn.Parameter | None) -> None:
    for name, new in parameters.items():
        expected, given = (None if p is None else tuple(p.shape) for p in (getattr(module, name), new))
        if given != expected:
            raise ValueError(f"a {name} has shape {given} where the rest of the layer asks for {expected}")
        setattr(module, name, new)


def _copy(*parts: Tensor | None, rows: slice = slice(None)) -> nn.Parameter | None:
    """A parameter of its own: of the parts, one under the other, these rows. None where they are None."""
    given = [part for part in parts if part is not None]
    if _one("biases", ["absent" if part is None else "present" for part in parts]) == "absent":
        return None
    learns = _one("requires_grad", [part.requires_grad for part in given])
    return nn.Parameter(torch.cat([part.detach() for part in given])[rows].clone(), requires_grad=learns)


def _part(layer: nn.Module, name: str, kind: type[nn.Module]) -> Any:
    part = layer.get_submodule(name)
    _check_kind(part, kind, f"{name}: ")
    return part


def _check_kind(layer: nn.Module, kind: type[nn.Module], where: str = "") -> None:
    """Refuse what is not of this kind, or a subclass of it that computes otherwise."""
    if not isinstance(layer, kind):
        raise TypeError(f"{where}expected {kind.__name__}, got {type(layer).__name__}")
    for method in _METHODS:
        if method in vars(layer) or getattr(type(layer), method, None) is not getattr(kind, method, None):
            raise TypeError(
                f"{where}{type(layer).__name__} has a {method} of its own: only weights carry over"
            )


def _one(what: str, values: list[Any]) -> Any:
    """The value on which all agree."""
    if any(value != values[0] for value in values):
        raise ValueError(f"{what} differ within the layer: {', '.join(map(str, values))}")
    return values[0]
