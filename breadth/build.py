"""One family's model, tiny and random, with inputs on which it runs."""

import copy
import re
import traceback
from typing import Any

import torch
from breadth.configure import tiny
from breadth.families import Family
from breadth.inputs import repaired, ways
from torch import Tensor, nn
from transformers import PreTrainedModel

MOST_PARAMETERS = 30_000_000
SEED = 11


class NotBuilt(Exception):
    """No tiny model of this family runs here; the text says why."""


def build(family: Family) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The first of the family's classes that can be built and run, and its inputs. Raises NotBuilt."""
    try:
        classes = family.classes()
    except ImportError as error:
        raise NotBuilt(_short(error)) from error
    reasons = []
    for kind in classes[:4]:
        try:
            model = make(kind)
            return model, feed(model, family.name)
        except Exception as error:
            reasons.append(f"{kind.__name__}: {_short(error)}")
    raise NotBuilt(reasons[0] if reasons else "the file has no model class")


def make(kind: type[PreTrainedModel]) -> PreTrainedModel:
    assert kind.config_class is not None
    config = tiny(kind.config_class)
    try:
        with torch.device("meta"):
            size = sum(p.numel() for p in kind(copy.deepcopy(config)).parameters())
    except Exception:  # some cannot be made without memory; the worker's limit then stands alone
        size = 0
    if size > MOST_PARAMETERS:
        raise NotBuilt(f"too large: {size / 1e6:.0f} million parameters")
    torch.manual_seed(SEED)
    model = kind(config).float().eval()
    enliven(model)
    return model


@torch.no_grad()
def enliven(model: nn.Module) -> None:
    """Weights as spread as in a trained model: with the usual 0.02 each attention would be all but uniform,
    and hide what is wrong with it. What begins at 0 (gates, tables of relative positions) gets a value."""
    random = torch.Generator().manual_seed(SEED)
    for parameter in model.parameters():
        if not parameter.is_floating_point() or not parameter.numel():
            continue
        constant = bool((parameter == parameter.flatten()[0]).all())
        if parameter.dim() < 2:
            if constant and parameter.flatten()[0].abs() < 0.1:
                parameter.copy_(0.3 * torch.randn(parameter.shape, generator=random))
        elif not constant or parameter.flatten()[0] == 0:
            spread = 1.5 / parameter[0].numel() ** 0.5
            if not 0.7 * spread < parameter.std() < 1.0:
                parameter.copy_(spread * torch.randn(parameter.shape, generator=random))


@torch.no_grad()
def run(model: nn.Module, inputs: dict[str, Any]) -> Any:
    """One forward, from the same seed each time; inputs are given anew since a model may change them."""
    torch.manual_seed(SEED)
    return model(**{n: v.clone() if isinstance(v, Tensor) else copy.deepcopy(v) for n, v in inputs.items()})


def feed(model: PreTrainedModel, family: str) -> dict[str, Any]:
    first: Exception | None = None
    for inputs in ways(model, family):
        for repairs in range(4):
            try:
                run(model, inputs)
                return inputs
            except Exception as error:
                mended = repaired(model, inputs, error)
                if first is None or repairs or _unpacking(first):
                    first = error
                if mended is None or _same(mended, inputs):
                    break
                inputs = mended
    raise NotBuilt(f"no inputs found: {_short(first)}") from first


def _unpacking(error: Exception) -> bool:
    """Whether it only says that a form of input was not the right one."""
    return "unpack" in str(error) or "grid_thw" in str(error)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one["input_ids"].shape == other["input_ids"].shape


def _short(error: BaseException | None) -> str:
    if isinstance(error, NotBuilt):
        return str(error)
    text = " ".join(str(error).split())
    if package := re.search(r"requires the (\w+) library|No module named '(\w+)'", text):
        return f"needs the package {package[1] or package[2]}, which is not installed"
    if "'inference_session'" in text:
        return "runs on a session of video frames, which is no tensor"
    where = ""
    if error is not None and error.__traceback__:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f" ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})"
    return f"{type(error).__name__}: {text[:240]}{where}"
