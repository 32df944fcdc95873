"""A run: what was learnt, how, and where it lies."""

import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mirada.training.checkpoints import Checkpoint, read_checkpoint
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import Findable, blaming
from mirada.training.fingerprint import fingerprint
from mirada.training.folders import CHECKPOINTS, MAPS, METRICS
from mirada.training.metrics import read_metrics
from mirada.training.options import TrainingOptions
from mirada.training.record import Record, is_our_own, read_run
from mirada.training.snapshots import kind_of, read_maps
from mirada.training.task import Answer, Batch, Score, Task
from mirada.watching.gaze import Gaze
from mirada.watching.watch import watch


@dataclass
class Run:
    """What training gives, and `load_run` gives again.

    Attributes:
        folder: where it lies.
        task, options: what was learnt, and how.
        model: what learnt it, in evaluation mode.
        step, steps: how far it is, and how far it was to go.
        metrics: the lines of metrics.jsonl.
        snapshots: the steps of the maps.
        maps: for each kind of attention ("self", or "encoder", "decoder", "cross") the maps along the way,
            (snapshots, blocks, heads, rows, keys): means over a few samples of the examination,
            NaN where the mask hides a key from all of them.
        signal: which one stopped it, if one did.
    """

    folder: Path
    task: Task
    options: TrainingOptions
    model: nn.Module
    step: int
    steps: int
    metrics: list[dict[str, Any]] = field(default_factory=list, repr=False)
    snapshots: list[int] = field(default_factory=list, repr=False)
    maps: dict[str, Tensor] = field(default_factory=dict, repr=False)
    signal: int | None = None

    @property
    def finished(self) -> bool:
        return self.step >= self.steps

    @property
    def score(self) -> Score | None:
        """The last examination; None if there was none yet."""
        for line in reversed(self.metrics):
            if line["kind"] == "validation":
                return Score(line["loss"], line["tokens"], line["sequences"])
        return None

    def answer(self, text: str) -> Answer:
        """What it makes of a question. TrainingError for one that the task cannot read."""
        self.model.eval()
        with torch.no_grad(), blaming(self.task):
            return self.task.answer(self.model, text)

    def gaze(self, answer: Answer | str) -> Gaze:
        """Whom each position looks at in an answer, or in the answer to a question."""
        if isinstance(answer, str):
            answer = self.answer(answer)
        self.model.eval()
        with torch.no_grad(), blaming(self.task), watch(self.model) as gaze:
            self.task.run(self.model, Batch(answer.inputs, answer.inputs[-1]), self.task.mask(self.options))
        for look in gaze:  # in an encoder-decoder, only its decoder's own looks go to the target
            look.tokens = answer.tokens[-1 if kind_of(look) in ("decoder", "self") else 0]
        return gaze


def load_run(folder: str | Path, task: Findable | None = None) -> Run:
    """The run that lies in a folder, as its newest whole checkpoint has it.

    A TrainingWarning says so where a newer one is damaged, and where a task of your own now gives other data
    than those that were learnt from.

    Args:
        folder: what `Run.folder` was.
        task: needed for a task of your own that was not read from a file.

    Raises:
        TrainingError: there is no run, it is damaged, or its task is another one.
    """
    folder = Path(folder)
    record = read_run(folder, task)
    checkpoint = read_checkpoint(folder / CHECKPOINTS)
    with torch.random.fork_rng(devices=[]), blaming(record.task):
        model = record.task.model(record.options).eval()
        notice_other_data(record, folder)
    put_weights(model, checkpoint, folder, record.task)
    metrics = [line for line in read_metrics(folder / METRICS) if line["step"] <= checkpoint.step]
    snapshots, maps = read_maps(folder / MAPS, checkpoint.step)
    where = (folder, record.task, record.options, model, checkpoint.step, record.steps)
    return Run(*where, metrics, snapshots, maps)


def notice_other_data(record: Record, folder: Path) -> None:
    """A TrainingWarning where the task is no longer what it was: its answers may then be spelt wrong."""
    if is_our_own(record.task) or record.data is None:
        return
    with suppress(Exception):  # data that are gone cannot be compared, and are not needed to answer
        if fingerprint(record.task, *record.task.data(record.options.seed)) == record.data:
            return
        warnings.warn(TrainingWarning("training.other_data_seen", folder=folder), stacklevel=3)


def put_weights(model: nn.Module, checkpoint: Checkpoint, folder: Path, task: Task) -> None:
    """The checkpoint's weights into the model. TrainingError if they are those of another one."""
    if checkpoint.told["task"] != task.name:
        found = checkpoint.told["task"]
        raise TrainingError("training.other_task", folder=folder, task=found, wanted=task.name)
    own = {name: tuple(x.shape) for name, x in model.state_dict().items()}
    found = {name: tuple(x.shape) for name, x in checkpoint.weights.items()}
    if own != found:
        name = min(set(own.items()) ^ set(found.items()))[0]
        shapes = {"found": found.get(name, "—"), "wanted": own.get(name, "—")}
        raise TrainingError("training.other_model", folder=folder, name=name, **shapes)
    model.load_state_dict(checkpoint.weights)
