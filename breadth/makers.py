"""What each argument of a forward is filled with."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

BATCH, LENGTH, DECODED, PADDED = 2, 11, 7, 3
MEL = (
    "num_mel_bins", "n_mels", "input_feat_per_channel", "feature_size", "input_feat_size", "input_dim",
    "feature_projection_input_dim",
)  # fmt: skip
ABSENT = object()


def configs(config: PreTrainedConfig, first: tuple[str, ...]) -> Iterator[PreTrainedConfig]:
    """The parts of a configuration, those whose name has one of `first` before the whole, the rest last."""
    parts = [(n, c) for n, c in vars(config).items() if isinstance(c, PreTrainedConfig)]
    for name, part in parts:
        if any(word in name for word in first):
            yield from configs(part, first)
    yield config
    for name, part in parts:
        if not any(word in name for word in first):
            yield from configs(part, first)


class Sizes:
    """One way to feed one model: which arguments, and in which of the known shapes."""

    def __init__(self, model: PreTrainedModel, wish: set[str], forms: dict[str, str], fixed: dict[str, Any]):
        self.model, self.wish, self.forms, self.fixed = model, wish, forms, fixed
        self.causal = any(
            getattr(m, "is_causal", False) is True or getattr(m, "is_decoder", False) is True
            for m in model.modules()
        )
        self.random = torch.Generator().manual_seed(7)

    def make(self) -> dict[str, Any]:
        made = {}
        for name in sorted(self.wish, key=_place):
            value = self.fixed[name] if name in self.fixed else MAKERS.get(name, missing)(self)
            if callable(value):
                value = value(self)
            if value is not ABSENT:
                made[name] = value
        return made

    def find(self, *names: str, default: Any = None, among: tuple[str, ...] = ()) -> Any:
        for config in configs(self.model.config, among):
            for name in names:
                if (value := getattr(config, name, None)) is not None:
                    return value
        return default

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.random)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.random)

    def vision(self, *names: str, default: Any = None) -> Any:
        return self.find(*names, default=default, among=("vision", "image", "backbone", "encoder", "vit"))

    def audio(self, *names: str, default: Any = None) -> Any:
        return self.find(*names, default=default, among=("audio", "speech", "encoder"))

    @property
    def side(self) -> tuple[int, int]:
        size = self.vision("image_size", "img_size", "input_size", "crop_size", default=32)
        size = (size, size) if isinstance(size, int) else tuple(size)[-2:]
        return size if len(size) == 2 else size * 2

    def patch(self) -> int:
        size = self.vision("patch_size", default=8)
        return size if isinstance(size, int) else tuple(size)[-1]

    def grid(self) -> Tensor:
        return torch.tensor([[1, 4, 4]] * BATCH)

    def form(self, name: str) -> str:
        return self.forms.get(name, "")


def padding(length: int, left: bool) -> Tensor:
    """(batch, length): 1 for a token, 0 for padding, which the last sample alone has."""
    mask = torch.ones(BATCH, length, dtype=torch.long)
    mask[-1, slice(0, PADDED) if left else slice(length - PADDED, length)] = 0
    return mask


def missing(sizes: Sizes) -> Any:
    return ABSENT


def input_ids(s: Sizes) -> Tensor:
    high = min(s.find("vocab_size", "text_vocab_size", default=60, among=("text",)), 60)
    ids = s.integers(5, high, BATCH, LENGTH)
    pad = s.find("pad_token_id", among=("text",))
    if "attention_mask" in s.wish and isinstance(pad, int) and 0 <= pad < 99:
        ids[padding(LENGTH, s.causal and not s.model.config.is_encoder_decoder) == 0] = pad
    return ids


def attention_mask(s: Sizes) -> Any:
    if "input_ids" in s.wish:
        return padding(LENGTH, s.causal and not s.model.config.is_encoder_decoder)
    return ABSENT


def decoder_input_ids(s: Sizes) -> Any:
    return s.integers(5, 30, BATCH, DECODED) if s.model.config.is_encoder_decoder else ABSENT


def pixel_values(s: Sizes) -> Tensor:
    channels = s.vision("num_channels", "in_channels", "num_input_channels", default=3)
    channels = channels if isinstance(channels, int) else 3
    height, width = s.side
    if s.form("pixel_values") == "patches":
        patch, time = s.patch(), s.vision("temporal_patch_size", default=1)
        if "spatial_shapes" in s.wish or "pixel_position_ids" in s.wish:
            return s.normal(BATCH, 16, channels * patch**2)
        return s.normal(BATCH * 16, channels * time * patch**2)
    if s.form("pixel_values") == "frames":
        return s.normal(BATCH, s.vision("num_frames", "frames_per_clip", default=2), channels, height, width)
    if s.form("pixel_values") == "tiles":
        return s.normal(BATCH, 1, s.vision("max_num_tiles", default=2), channels, height, width)
    if s.form("pixel_values") == "crops":
        return s.normal(BATCH, 1, channels, height, width)
    return s.normal(BATCH, channels, height, width)


def input_features(s: Sizes) -> Tensor:
    mel = s.audio(*MEL, default=16)
    time = 2 * s.audio("max_source_positions", default=64)
    time = time if time <= 1024 else 128
    return (
        s.normal(BATCH, mel, time) if s.form("input_features") == "mel, time" else s.normal(BATCH, time, mel)
    )


def input_features_mask(s: Sizes) -> Tensor:
    time = 2 * s.audio("max_source_positions", default=64)
    return torch.ones(BATCH, time if time <= 1024 else 128, dtype=torch.long)


def input_values(s: Sizes) -> Tensor:
    if s.form("input_values") == "time, mel":
        return s.normal(BATCH, s.audio("max_length", default=64), s.audio("num_mel_bins", default=16))
    return s.normal(BATCH, 3200) if s.form("input_values") == "wave" else s.normal(BATCH, 1, 3200)


def bbox(s: Sizes) -> Tensor:
    corner = s.integers(0, 50, BATCH, LENGTH, 2)
    return torch.cat([corner, corner + s.integers(1, 40, BATCH, LENGTH, 2)], -1)


def past(s: Sizes) -> int:
    return s.find("context_length", default=32) + max(s.find("lags_sequence", default=[0]) or [0])


# In the order in which they are given.
MAKERS: dict[str, Callable[[Sizes], Any]] = {
    "input_ids": input_ids,
    "attention_mask": attention_mask,
    "decoder_input_ids": decoder_input_ids,
    "bbox": bbox,
    "pixel_values": pixel_values,
    "input_features": input_features,
    "input_values": input_values,
    "pixel_values_videos": lambda s: s.normal(
        BATCH, s.vision("frames_per_clip", "num_frames", default=2), 3, *s.side
    ),
    "image_grid_thw": lambda s: s.grid() if s.form("pixel_values") == "patches" else ABSENT,
    "grid_thw": lambda s: s.grid(),
    "mm_token_type_ids": lambda s: torch.zeros(BATCH, LENGTH, dtype=torch.long),
    "image_sizes": lambda s: torch.tensor([list(s.side)] * BATCH),
    "pixel_attention_mask": lambda s: (
        torch.ones(BATCH, 16, dtype=torch.long) if s.form("pixel_values") == "patches" else ABSENT
    ),
    "spatial_shapes": lambda s: torch.tensor([[4, 4]] * BATCH),
    "input_features_mask": input_features_mask,
    "feature_attention_mask": input_features_mask,
    "aspect_ratio_ids": lambda s: torch.ones(BATCH, 1, dtype=torch.long),
    "aspect_ratio_mask": lambda s: torch.ones(
        BATCH, 1, s.vision("max_num_tiles", default=2), dtype=torch.long
    ),
    "past_values": lambda s: (
        s.normal(BATCH, past(s), s.find("num_input_channels", default=1))
        if s.find("num_input_channels")
        else s.normal(BATCH, past(s))
    ),
    "past_time_features": lambda s: s.normal(BATCH, past(s), s.find("num_time_features", default=1)),
    "past_observed_mask": lambda s: torch.ones(BATCH, past(s)),
    "future_values": lambda s: s.normal(BATCH, s.find("prediction_length", default=4)),
    "future_time_features": lambda s: s.normal(
        BATCH, s.find("prediction_length", default=4), s.find("num_time_features", default=1)
    ),
}


def _place(name: str) -> int:
    return list(MAKERS).index(name) if name in MAKERS else len(MAKERS)
