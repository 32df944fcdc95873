"""Maps along the way: whom each position looks at, while the model learns to.

    maps.safetensors
        steps                       (snapshots,) int64
        self, or encoder, decoder, cross
                                    (snapshots, blocks, heads, rows, keys) float32

Each is the mean over the same few samples of the examination, NaN where the mask hides a key from all of
them, seen through `mirada.watch`, which neither changes what the model does nor draws a random number. They
are written with each checkpoint: what came after it is done again by a run that goes on.
"""

import math
import warnings
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.training.errors import TrainingWarning, unreadable
from mirada.training.files import replace_bytes
from mirada.training.task import Batch, Task
from mirada.watching.look import MASKED, Look
from mirada.watching.watch import NothingSeen, watch

KINDS = {"self", "encoder", "decoder", "cross"}
SAMPLES = 16
SHARE = 12  # of a run between two maps, unless told: enough for a strip, and nearly free


class Snapshots:
    """The maps of a run.

    Attributes:
        steps: of each map, in order.
        maps: for each kind of attention in the model, a map of (blocks, heads, rows, keys) each.
    """

    def __init__(self, path: Path, task: Task, samples: Batch, mask: Mask | None, until: int | None = None):
        """Begin, or go on after step `until` of what is there."""
        self.path, self.task, self.samples, self.mask = path, task, samples[:SAMPLES], mask
        self.unseen = False
        self.steps: list[int] = []
        self.maps: dict[str, list[Tensor]] = {}
        if until is not None:
            self.steps, maps = read_maps(path, until)
            self.maps = {name: list(x) for name, x in maps.items()}

    def take(self, model: nn.Module, step: int) -> bool:
        """Add the maps of this moment. False, and once a TrainingWarning, where no attention can be seen."""
        if self.unseen:
            return False
        training = model.training
        model.eval()
        try:
            with torch.no_grad(), watch(model) as gaze:
                self.task.run(model, self.samples, self.mask)
        except NothingSeen:  # a model of somebody's own may do without; it learns all the same
            warnings.warn(TrainingWarning("training.nothing_seen", task=self.task.name), stacklevel=2)
            self.unseen = True
            return False
        finally:
            model.train(training)
        blocks: dict[str, list[Tensor]] = {}
        for look in gaze:
            hidden = (look.states() == MASKED).all(0)  # 0 would be a look that is only very small
            table = look.weights().mean(0).masked_fill(hidden, math.nan)
            blocks.setdefault(kind_of(look), []).append(table.cpu())
        self.steps.append(step)
        for name, tables in blocks.items():
            self.maps.setdefault(name, []).append(torch.stack(tables))
        return True

    def stacked(self) -> dict[str, Tensor]:
        """(snapshots, blocks, heads, rows, keys) for each kind of attention."""
        return {name: torch.stack(maps) for name, maps in self.maps.items()}

    def write(self) -> None:
        """All of them to the file. Raises OSError, with the file as it was."""
        if self.steps:
            tensors = {"steps": torch.tensor(self.steps), **self.stacked()}
            replace_bytes(self.path, safetensors.torch.save(tensors))


def kind_of(look: Look) -> str:
    if look.kind == "cross":
        return "cross"
    side = look.path.partition(".")[0]
    return side if side in ("encoder", "decoder") else "self"


def read_maps(path: Path, until: int) -> tuple[list[int], dict[str, Tensor]]:
    """Up to a step: the steps, and (snapshots, blocks, heads, rows, keys) for each kind of attention.

    None where there is no file; none, and a TrainingWarning, where it is damaged: the run itself is not.
    Raises TrainingError where it cannot be read.
    """
    try:
        tensors = safetensors.torch.load(path.read_bytes())
        steps = tensors.pop("steps").tolist()
        if (
            not tensors
            or tensors.keys() - KINDS
            or any(x.dim() != 5 or len(x) != len(steps) for x in tensors.values())
        ):
            raise ValueError("shape")
    except FileNotFoundError:
        return [], {}
    except OSError as error:
        raise unreadable(error, path) from None
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        warnings.warn(TrainingWarning("training.bad_maps", path=path, reason=error), stacklevel=2)
        return [], {}
    kept = [step for step in steps if step <= until]
    return kept, {name: x[: len(kept)] for name, x in tensors.items()}
