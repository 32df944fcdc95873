"""A tiny configuration of any class: its default one, with every known size made small."""

import dataclasses
import re
from typing import Any

from breadth.overrides import CONFIGURATIONS
from breadth.sizes import RULES
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

VOCABULARY = 99
COMMON = {field.name for field in dataclasses.fields(PreTrainedConfig)}


def tiny(kind: type[PreTrainedConfig], given: dict[str, Any] | None = None, **more: Any) -> PreTrainedConfig:
    """A small instance of `kind`. `given`: what a model that contains this part asks of it.

    `more` wins over the rules; a name with dots speaks of a part: `{"vision_config.depth": 2}`.
    """
    more = {**CONFIGURATIONS.get(kind.model_type, {}), **more}
    values = {}
    for name, default in defaults(kind, given or {}).items():
        small = shrink(name, default)
        if small != default or name in (given or {}):
            values[name] = small
    _consistent(kind, given or {}, values)
    for name, part in kind.sub_configs_defaults.items():
        if more.get(name, 0) is None or (getattr(part, "optional", False) and name not in more):
            continue
        inner = {key.removeprefix(name + "."): v for key, v in more.items() if key.startswith(name + ".")}
        chosen = more.pop(name, {})
        if isinstance(chosen, dict):
            values[name] = tiny(*_part(part, chosen), **inner)
        else:
            values[name] = chosen
    values |= {name: value for name, value in more.items() if "." not in name}
    config = kind(**values)
    return _every_sort_of_layer(kind, values, config)


def _part(part: Any, chosen: dict[str, Any]) -> tuple[type[PreTrainedConfig], dict[str, Any]]:
    """The class of a part and what it is asked to be, from the way its owner declares it."""
    if isinstance(part, type):
        return part, chosen
    asked = {**part.init_kwargs, **chosen}
    concrete = isinstance(part.config_class, type) and issubclass(part.config_class, PreTrainedConfig)
    kind = asked.pop("model_type", None)
    if kind is None and concrete:
        return part.config_class, asked
    return CONFIG_MAPPING[kind or part.model_type], asked


def _consistent(kind: type[PreTrainedConfig], given: dict[str, Any], values: dict[str, Any]) -> None:
    """What the rules, which see one name at a time, cannot know."""
    usual = defaults(kind, given)
    heads = usual.get("num_attention_heads")
    if isinstance(heads, int) and usual.get("num_key_value_heads") == heads:
        values["num_key_value_heads"] = values.get("num_attention_heads", heads)
    if "mrope_section" in getattr(kind, "ignore_keys_at_rope_validation", ()):
        rope = dict(usual.get("rope_parameters") or {"rope_type": "default", "rope_theta": 10_000.0})
        values["rope_parameters"] = {**rope, "mrope_section": [2, 3, 3]}
    for name in ("out_indices", "out_features"):  # stages that a small backbone has
        if (stages := given.get(name)) and "num_hidden_layers" in usual:
            values["num_hidden_layers"] = max(len(stages), 2)
            places = range(values["num_hidden_layers"] - len(stages) + 1, values["num_hidden_layers"] + 1)
            values[name] = [i if isinstance(stages[0], int) else f"stage{i}" for i in places]


def defaults(kind: type[PreTrainedConfig], given: dict[str, Any]) -> dict[str, Any]:
    values = {}
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            values[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            values[field.name] = field.default_factory()
    values |= given
    return {n: v for n, v in values.items() if n not in COMMON and n not in kind.sub_configs_defaults}


def shrink(name: str, value: Any) -> Any:
    if value is None and re.fullmatch(r"(image|video|audio)_token_(id|index)", name):
        return token(name)
    if value is None or isinstance(value, bool | str | dict):
        return value
    if re.fullmatch(r".*token(_id|_index|_idx)s?", name) and isinstance(value, int) and value >= VOCABULARY:
        return token(name)
    for pattern, rule in RULES:
        if re.fullmatch(pattern, name):
            return rule(value) if callable(rule) else _like(value, rule)
    return value


def _like(value: Any, small: int) -> Any:
    """`small` in the shape of `value`: for each entry of a tuple; never more than was there."""
    if isinstance(value, list | tuple):
        return type(value)(_like(entry, small) for entry in value)
    return type(value)(min(value, small)) if isinstance(value, int | float) else value


def token(name: str) -> int:
    """A token's number within the small vocabulary, its own for each name as far as possible."""
    places = (
        "image",
        "video",
        "audio",
        "vision_start",
        "vision_end",
        "boi",
        "eoi",
        "bos",
        "eos",
        "pad",
        "sep",
    )
    at = next((i for i, start in enumerate(places) if name.startswith(start)), len(places))
    shift = 12 if "start" in name or "begin" in name or "bos" in name else 24 if "end" in name else 0
    return VOCABULARY - 1 - at - shift


def _every_sort_of_layer(kind: type[PreTrainedConfig], values: dict[str, Any], config: PreTrainedConfig):
    """As many layers (up to eight) as it takes to have each sort of them that the family has."""
    if "num_hidden_layers" not in values or not getattr(config, "layer_types", None):
        return config
    try:
        wanted = set(kind().layer_types)
    except Exception:
        return config
    for layers in range(2, 9):
        if wanted <= set(getattr(config, "layer_types", ())):
            break
        config = kind(**{**values, "num_hidden_layers": layers})
    return config
