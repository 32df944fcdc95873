"""The model families of the installed transformers: one for each of its modeling files."""

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers
from transformers import PreTrainedModel

ROOT = Path(transformers.__file__).parent / "models"

# What a class is for, by the end of its name; the earlier, the sooner it is taken.
PURPOSES = (
    "Model",
    "ForConditionalGeneration",
    "ForCausalLM",
    "ForPreTraining",
    "ForObjectDetection",
    "ForUniversalSegmentation",
    "ForDepthEstimation",
    "ForImageClassification",
    "",
)
# Not models of their own: a tool of the rest, or a base that others complete.
NOT_FAMILIES = ("auto",)
# Families whose classes, in the order that the rule below gives, begin with one that says little.
PREFERRED: dict[str, str] = {}


@dataclass(frozen=True)
class Family:
    name: str  # the folder, and the file too where the folder has more than one
    module: str

    def classes(self) -> list[type[PreTrainedModel]]:
        """Its model classes, the base model of the whole family first. Raises ImportError as they do."""
        module = importlib.import_module(self.module)
        found = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == self.module]
        models = [c for c in found if issubclass(c, PreTrainedModel) and c.config_class]
        base = _base_names()
        models = [
            c for c in models if not c.__name__.endswith("PreTrainedModel") and "forward" in _methods(c)
        ]
        return sorted(models, key=lambda c: self._rank(c, base))

    def _rank(self, model: type[PreTrainedModel], base: dict[str, str]) -> tuple:
        config: Any = model.config_class
        kind = config.model_type.replace("-", "_")
        purpose = next(i for i, end in enumerate(PURPOSES) if model.__name__.endswith(end))
        return (
            PREFERRED.get(self.name) != model.__name__,
            kind != self.name,
            config.base_config_key != "",  # a part of a larger model
            base.get(config.model_type) != model.__name__,
            purpose,
        )


def _methods(model: type) -> set[str]:
    return {name for c in model.__mro__ if c.__module__.startswith("transformers.models") for name in vars(c)}


def _base_names() -> dict[str, str]:
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return {kind: name if isinstance(name, str) else name[0] for kind, name in MODEL_MAPPING_NAMES.items()}


def families() -> list[Family]:
    files = sorted(path for path in ROOT.glob("*/modeling_*.py") if path.parent.name not in NOT_FAMILIES)
    folders = [path.parent.name for path in files]
    return [
        Family(
            path.parent.name if folders.count(path.parent.name) == 1 else path.stem.removeprefix("modeling_"),
            f"transformers.models.{path.parent.name}.{path.stem}",
        )
        for path in files
    ]
