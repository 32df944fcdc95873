"""Tiny models of Hugging Face's transformers with random weights, and what their own eager path returns."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

WORDS = 97  # of the vocabulary; 0 to 2 are special
ROWS, KEYS = 7, 11  # of the decoder, of the encoder or the only text

ENCODER = {
    "hidden_size": 28,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "intermediate_size": 37,
    "vocab_size": WORDS,
    "max_position_embeddings": 64,
}
# Six heads over two key heads.
GROUPED = {
    **ENCODER,
    "hidden_size": 48,
    "head_dim": 8,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 36,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": None,
}
# Encoder and decoder differ in their depths and in their heads.
TWO_STACKS = {
    "d_model": 28,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 37,
    "vocab_size": WORDS,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "decoder_start_token_id": 1,
    "bos_token_id": 1,
    "eos_token_id": None,
    "forced_eos_token_id": None,
}


def ids(batch: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(3, WORDS, (batch, length), generator=torch.Generator().manual_seed(seed))


def text() -> dict[str, Tensor]:
    return {"input_ids": ids(2, KEYS)}


def padded(side: str, length: int = KEYS, missing: int = 3) -> dict[str, Tensor]:
    """Two texts of which the second is shorter."""
    mask = torch.ones(2, length, dtype=torch.long)
    mask[1, slice(length - missing, None) if side == "right" else slice(0, missing)] = 0
    return {"input_ids": ids(2, length).masked_fill(mask == 0, 0), "attention_mask": mask}


def two_texts() -> dict[str, Tensor]:
    return {**text(), "decoder_input_ids": ids(2, ROWS, seed=1)}


def two_texts_padded() -> dict[str, Tensor]:
    """As a tokenizer pads to the greatest length there may be: half of it is padding."""
    given = padded("right", 2 * KEYS, KEYS + 3)
    given["attention_mask"][0, KEYS:] = 0
    decoder = padded("right", ROWS, 2)
    return {
        **given,
        "decoder_input_ids": decoder["input_ids"],
        "decoder_attention_mask": decoder["attention_mask"],
    }


def image(size: int) -> Callable[[], dict[str, Tensor]]:
    return lambda: {"pixel_values": torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))}


@dataclass(frozen=True)
class Family:
    """Where a model's class is, how it is made, what it is given, and which modules of it attend."""

    module: str
    model: str
    config: dict[str, Any]
    inputs: Callable[[], dict[str, Tensor]] = text
    paths: tuple[tuple[str, str], ...] = ()  # (path, kind)
    kernels: tuple[str, ...] = ("sdpa", "eager")
    gain: float = 10.0  # random weights of the usual size look everywhere alike

    def __call__(self, kernel: str | None = "sdpa", model: str = "", **config) -> nn.Module:
        home = importlib.import_module(f"transformers.models.{self.module}.modeling_{self.module}")
        made = getattr(home, model or self.model)
        torch.manual_seed(0)
        said = {} if kernel is None else {"attn_implementation": kernel}
        built = made._from_config(made.config_class(**{**self.config, **config}), **said).eval()
        with torch.no_grad():
            for weight in built.parameters():
                if weight.dim() > 1:
                    weight.mul_(self.gain)
        return built


def layers(path: str, count: int, kind: str = "self") -> tuple[tuple[str, str], ...]:
    return tuple((path.format(i), kind) for i in range(count))


def decoder(own: str, cross: str, count: int) -> tuple[tuple[str, str], ...]:
    """In each layer first itself, then the other text."""
    return tuple(
        place for i in range(count) for place in ((own.format(i), "self"), (cross.format(i), "cross"))
    )


FAMILIES = {
    "bert": Family("bert", "BertModel", ENCODER, paths=layers("encoder.layer.{}.attention.self", 3)),
    "gpt2": Family(
        "gpt2",
        "GPT2Model",
        {
            "n_embd": 28,
            "n_head": 4,
            "n_layer": 3,
            "vocab_size": WORDS,
            "n_positions": 64,
            "eos_token_id": None,
        },
        paths=layers("h.{}.attn", 3),
    ),
    "llama": Family("llama", "LlamaModel", GROUPED, paths=layers("layers.{}.self_attn", 2)),
    "mistral": Family(
        "mistral", "MistralModel", {**GROUPED, "sliding_window": 5}, paths=layers("layers.{}.self_attn", 2)
    ),
    # One layer with a window, one without; sinks.
    "gpt_oss": Family(
        "gpt_oss",
        "GptOssModel",
        {**GROUPED, "sliding_window": 5, "num_local_experts": 2, "num_experts_per_tok": 1},
        paths=layers("layers.{}.self_attn", 2),
        kernels=("eager",),
    ),
    "gemma2": Family(
        "gemma2",
        "Gemma2Model",
        {**GROUPED, "sliding_window": 5, "attn_logit_softcapping": 5.0},
        paths=layers("layers.{}.self_attn", 2),
        kernels=("eager",),
    ),
    "t5": Family(
        "t5",
        "T5Model",
        {
            "d_model": 28,
            "d_kv": 5,
            "d_ff": 37,
            "num_layers": 2,
            "num_decoder_layers": 3,
            "num_heads": 4,
            "vocab_size": WORDS,
            "decoder_start_token_id": 0,
            "eos_token_id": None,
        },
        two_texts,
        (
            *layers("encoder.block.{}.layer.0.SelfAttention", 2),
            *decoder("decoder.block.{}.layer.0.SelfAttention", "decoder.block.{}.layer.1.EncDecAttention", 3),
        ),
        gain=2.0,  # it does not divide by √d
    ),
    "marian": Family(
        "marian",
        "MarianModel",
        TWO_STACKS,
        two_texts,
        (
            *layers("encoder.layers.{}.self_attn", 2),
            *decoder("decoder.layers.{}.self_attn", "decoder.layers.{}.encoder_attn", 3),
        ),
        gain=6.0,
    ),
    "vit": Family(
        "vit",
        "ViTModel",
        {**ENCODER, "image_size": 15, "patch_size": 5},
        image(15),
        layers("layers.{}.attention", 3),
    ),
    "swin": Family(
        "swin",
        "SwinModel",
        {
            "image_size": 24,
            "patch_size": 2,
            "embed_dim": 12,
            "window_size": 3,
            "depths": [2, 1],
            "num_heads": [2, 3],
        },
        image(24),
        (
            *layers("encoder.layers.0.blocks.{}.attention", 2),
            *layers("encoder.layers.1.blocks.{}.attention", 1),
        ),
    ),
}


def tables_of(model: nn.Module, inputs: dict[str, Tensor]) -> dict[tuple[str, str], Tensor]:
    """What eager returns for all layers, by the place of each in `Family.paths`. Leaves the model eager."""
    model.set_attn_implementation("eager")  # pyright: ignore[reportCallIssue]
    with torch.no_grad():
        output = model(**inputs, output_attentions=True, use_cache=False)
    family = next(f for f in FAMILIES.values() if type(model).__name__.startswith(f.model[:-5]))
    if "decoder_attentions" not in output:
        found = list(output.attentions)
    else:
        found = list(output.encoder_attentions)
        for own, cross in zip(output.decoder_attentions, output.cross_attentions, strict=True):
            found += [own, cross]
    paths = family.paths
    if family.model == "SwinModel":  # it returns the last block of each stage
        paths = (paths[1], paths[2])
    return dict(zip(paths[: len(found)], found, strict=True))


def hidden(output) -> list[Tensor]:
    """All tensors of an output."""
    return [x for x in output.to_tuple() if isinstance(x, Tensor)]
