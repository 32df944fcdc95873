"""A vision transformer of Hugging Face's transformers, carried into ours.

Nothing is approximated: what ours cannot say is refused by name. Weights are copied, never shared, and no
random number is drawn.
"""

from typing import Any

import torch
from torch import Tensor, nn

from mirada.layers.block import Activation, BlockConfig
from mirada.models.config import VisionConfig
from mirada.models.vision import VisionTransformer

# What theirs call an activation, and what we do.
_ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}
# Our parts of a block, and theirs.
_BLOCK = {
    "norm1": "layernorm_before",
    "norm2": "layernorm_after",
    "attention.output_proj": "attention.o_proj",
    "mlp.hidden_proj": "mlp.fc1",
    "mlp.output_proj": "mlp.fc2",
}


def from_vit(theirs: nn.Module) -> VisionTransformer:
    """Our VisionTransformer with the weights of a `ViTForImageClassification` (transformers 5), for the same
    images (batch, channels, height, width) and the same logits (batch, labels).

    Sizes, activation, eps, mode, dtype, device and requires_grad come along. Pictures of another size than
    theirs were made for are answered as with their `interpolate_pos_encoding=True`. A `ViTModel` has no
    answers to give, and is not taken; `mirada.watch` looks into any of theirs as it is.

    Raises TypeError for another model; ValueError, by name, for what ours cannot say: patches that are no
    squares, an activation that is neither ReLU nor GELU, queries, keys and values without biases, dropout,
    and weights that theirs do not have or ours have no place for, such as adapters.
    """
    kind = type(theirs)
    if kind.__name__ != "ViTForImageClassification" or not kind.__module__.startswith("transformers."):
        raise TypeError(f"from_vit takes transformers' ViTForImageClassification, got {kind.__name__}")
    config: Any = theirs.config
    left = dict(theirs.named_parameters())
    with torch.device("meta"):
        ours = VisionTransformer(_config(config, len(left.get("classifier.weight", ()))))
    given = _weights(left, ours)
    if left:
        raise ValueError(f"ours have no place for {', '.join(list(left)[:6])}")
    learns = {name: parameter.requires_grad for name, parameter in given.items()}
    ours.load_state_dict(given, assign=True)  # which sets all of them to learn
    for name, parameter in ours.named_parameters():
        parameter.requires_grad_(learns[name])
    return ours.train(theirs.training)


def _config(config: Any, outputs: int) -> VisionConfig:
    height, width = _pair(config.image_size)
    patch = _pair(config.patch_size)
    if patch[0] != patch[1]:
        raise ValueError(f"patch_size={patch}: ours are squares")
    if config.hidden_act not in _ACTIVATIONS:
        raise ValueError(f"hidden_act={config.hidden_act!r}: ours know ReLU, and GELU, exact or by tanh")
    if not config.qkv_bias:
        raise ValueError("qkv_bias=False: ours have biases in all projections, or in none")
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        if getattr(config, name):
            raise ValueError(f"{name}={getattr(config, name)}: ours drop elsewhere; set it to 0 first")
    if not outputs:
        raise ValueError("there is no classifier: give theirs num_labels of at least 1")
    head_dim = getattr(config, "head_dim", None)
    return VisionConfig(
        image_size=(height, width),
        patch_size=patch[0],
        channels=config.num_channels,
        outputs=outputs,
        d_model=config.hidden_size,
        num_heads=config.num_attention_heads,
        num_blocks=config.num_hidden_layers,
        d_mlp=config.intermediate_size,
        block=BlockConfig(
            activation=_ACTIVATIONS[config.hidden_act], eps=config.layer_norm_eps, head_dim=head_dim
        ),
    )


def _pair(size: Any) -> tuple[int, int]:
    height, width = (size, size) if isinstance(size, int) else size
    return height, width


def _weights(left: dict[str, nn.Parameter], ours: VisionTransformer) -> dict[str, nn.Parameter]:
    """Parameters by our names. What is taken goes out of `left`."""
    result = {}

    def carry(here: str, *there: str) -> None:
        for name in there:
            if name not in left:
                raise ValueError(
                    f"there is no {name}: expected a ViTForImageClassification of transformers 5"
                )
        taken = [left.pop(name) for name in there]
        joined: Tensor = torch.cat([part.detach() for part in taken]).clone()
        if here.startswith("embedding."):  # a kernel is a row of numbers here, and a single word has no batch
            joined = joined.reshape(ours.get_parameter(here).shape)
        learns = any(part.requires_grad for part in taken)
        result[here] = nn.Parameter(joined, requires_grad=learns)

    def carry_both(here: str, *there: str) -> None:
        for kind in ("weight", "bias"):
            carry(f"{here}.{kind}", *(f"{name}.{kind}" for name in there))

    carry("embedding.cls.weight", "vit.embeddings.cls_token")
    carry("embedding.positions.weight", "vit.embeddings.position_embeddings")
    carry_both("embedding.projection", "vit.embeddings.patch_embeddings.projection")
    for i in range(len(ours.stack.blocks)):
        block, layer = f"stack.blocks.{i}", f"vit.layers.{i}"
        carry_both(
            f"{block}.attention.qkv_proj", *(f"{layer}.attention.{which}_proj" for which in ("q", "k", "v"))
        )
        for here, there in _BLOCK.items():
            carry_both(f"{block}.{here}", f"{layer}.{there}")
    carry_both("stack.norm", "vit.layernorm")
    carry_both("output_proj", "classifier")
    return result
