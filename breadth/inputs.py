"""Small inputs for any model, by the names that its forward takes; several ways where these do not tell."""

import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any

import torch
from breadth.arguments import INPUTS
from breadth.makers import MAKERS, Sizes, configs
from breadth.sizes import WIDTH
from torch import Tensor
from transformers import PreTrainedModel

# Given to a model that takes them, needed or not: the first group to all, the others one by one if all fail.
ALWAYS = ("input_ids", "attention_mask", "decoder_input_ids", "bbox", "past_values", "past_time_features")
MEDIA = ("pixel_values", "input_features", "input_values")
ASIDE = (
    "image_grid_thw", "mm_token_type_ids", "image_sizes", "pixel_attention_mask", "spatial_shapes",
    "input_features_mask", "feature_attention_mask", "aspect_ratio_ids", "aspect_ratio_mask",
    "past_observed_mask", "future_values", "future_time_features", "observed_mask", "image_position_ids",
)  # fmt: skip
SHAPES = {
    "pixel_values": ("image", "patches", "frames", "tiles", "crops"),
    "input_features": ("mel, time", "time, mel"),
    "input_values": ("wave", "channel, wave", "time, mel"),
}


def ways(model: PreTrainedModel, family: str) -> Iterator[dict[str, Any]]:
    """Inputs to try, the fullest first."""
    parameters = inspect.signature(model.forward).parameters
    named = {n for n, p in parameters.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    needed = {n for n in named if parameters[n].default is inspect.Parameter.empty}
    fixed = INPUTS.get(family, {})
    named -= {name for name, value in fixed.items() if value is None}
    needed |= {name for name, value in fixed.items() if value is not None}
    media = [name for name in MEDIA if name in named]
    text = {n for n in ALWAYS if n in named}
    wishes = [needed | text | set(media) | {n for n in ASIDE if n in named}]
    wishes += [needed | text | {name} | {n for n in ASIDE if n in named} for name in media if len(media) > 1]
    wishes += [needed | text | set(media), needed | text, needed | set(media), needed]
    main = model.main_input_name
    wishes.append(needed | ({main} if isinstance(main, str) else set(main)) & named)
    seen = []
    for wish in wishes:
        if wish in seen or not wish:
            continue
        seen.append(wish)
        shaped = [name for name in SHAPES if name in wish]
        for shapes in itertools.product(*(SHAPES[name] for name in shaped)):
            yield Sizes(model, wish, dict(zip(shaped, shapes, strict=True)), fixed).make()


def repaired(model: PreTrainedModel, inputs: dict[str, Any], error: Exception) -> dict[str, Any] | None:
    """The same inputs with as many places for an image, video or sound as the error asks for, if it does."""
    found = re.search(
        r"(?i)(image|video|audio|multimodal|placeholder).*?do(?:es)? not match.*?(\d+)\D+(\d+)", str(error)
    )
    if not found or "input_ids" not in inputs:
        return None
    kind, tokens, features = found[1].lower(), int(found[2]), int(found[3])
    name = kind if kind in ("image", "video", "audio") else "audio" if "input_features" in inputs else "image"
    token = next(
        (
            value
            for config in configs(model.config, ())
            for end in ("token_id", "token_index", "token_idx")
            if (value := getattr(config, f"{name}_{end}", None)) is not None
        ),
        None,
    )
    if token is None:
        return None
    ids: Tensor = inputs["input_ids"]
    batch = len(ids)
    if tokens == features:  # the error counts numbers, not vectors
        features //= WIDTH
    places = -(-features // batch)
    if features > 4000:
        return None
    plain = torch.tensor([[t for t in row.tolist() if t != token][-11:] for row in ids])
    left = "attention_mask" in inputs and not bool(inputs["attention_mask"][:, 0].all())
    inserted = torch.cat([plain[:, :4], plain.new_full((batch, places), token), plain[:, 4:]], 1)
    result = {**inputs, "input_ids": inserted}
    if "attention_mask" in inputs:
        mask = torch.ones_like(inserted)
        mask[-1, : 3 if left else 0] = 0
        result["attention_mask"] = mask
    if "mm_token_type_ids" in inputs:
        kinds = {"image": 1, "video": 2, "audio": 3}
        result["mm_token_type_ids"] = (inserted == token).long() * kinds[name]
    if "token_type_ids" in inputs:
        result["token_type_ids"] = (inserted == token).long()
    return result


def shapes(inputs: dict[str, Any]) -> str:
    """`input_ids 2 × 11, attention_mask 2 × 11`."""
    return ", ".join(
        f"{name} {' × '.join(map(str, value.shape))}" if isinstance(value, Tensor) else name
        for name, value in inputs.items()
        if name in MAKERS or isinstance(value, Tensor)
    )
