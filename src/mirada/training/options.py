"""How a task is learnt: everything that may be chosen, and what it is unless chosen."""

import math
import operator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from numbers import Real
from typing import Any, Literal, get_args

import torch

from mirada.training.errors import TrainingError
from mirada.training.task import Task

Schedule = Literal["constant", "cosine"]
Positions = Literal["learned", "sinusoidal", "rotary", "none"]
Precision = Literal["float32", "bfloat16"]
# What a run may change when it goes on. None of it changes what a step does to the weights, but for one
# thing: a schedule that is not constant knows how long the run is, so with another length its learning rates
# are others from here on. Who changes it is told.
CHANGEABLE = ("steps", "epochs", "device", "threads", "checkpoint_every", "snapshots_every", "validate_every")
MOST_THREADS = 256  # with a million, the process ends without a word


@dataclass(frozen=True)
class TrainingOptions:
    """How a task is learnt.

    Args:
        steps, epochs: how long. One of them; with both, the shorter counts.
        batch_size: samples in a step.
        lr, schedule, warmup: the learning rate: it rises for `warmup` steps, then stays ("constant") or falls
            along half a cosine to zero ("cosine").
        seed: of the data, their order, and the model's first parameters.
        d_model, heads, blocks, positions: of the model. "none" has no positions.
        causal: an encoder that may not look ahead.
        device, precision: where, and in which numbers: "bfloat16" is autocast.
        validate_every, snapshots_every, checkpoint_every: steps between examinations, maps and checkpoints.
            An examination ends each epoch and each run as well; a checkpoint begins and ends each run.
            None: an even share of the run for maps, no more for the others; 0: no maps.
        threads: of the processor.

    Raises:
        TrainingError: a value that none of these allow.
    """

    steps: int | None = None
    epochs: int | None = None
    batch_size: int = 64
    lr: float = 1e-3
    schedule: Schedule = "constant"
    warmup: int = 0
    seed: int = 0
    d_model: int = 32
    heads: int = 2
    blocks: int = 1
    positions: Positions = "learned"
    causal: bool = False
    device: str = "cpu"
    precision: Precision = "float32"
    validate_every: int | None = None
    snapshots_every: int | None = None
    checkpoint_every: int | None = 1000
    # A step of a small model is a hundred operations of a few microseconds: a second thread has nothing to
    # win in them, and each waits for it. Where other programs want the processor too, an epoch of one
    # second took 15 with two threads, and never over 2 with one. Give large models all you have.
    threads: int = 1

    def __post_init__(self):
        counts = ("batch_size", "d_model", "heads", "blocks", "threads")
        for name in (*counts, "steps", "epochs", "checkpoint_every", "validate_every"):
            value = self.as_whole(name)
            if (value is None and name not in counts) or (type(value) is int and 1 <= value < 2**63):
                continue
            raise bad(name, value, "1, 2, 3, …")
        for name in ("warmup", "seed", "snapshots_every"):
            value = self.as_whole(name)
            if not (type(value) is int and 0 <= value < 2**63) and not (
                value is None and name == "snapshots_every"
            ):
                raise bad(name, value, "0, 1, 2, …")
        if self.threads > MOST_THREADS:
            raise bad("threads", self.threads, f"1–{MOST_THREADS}")
        object.__setattr__(self, "lr", as_float(self.lr))
        if type(self.causal) is not bool:
            raise bad("causal", self.causal, "True, False")
        if isinstance(self.device, torch.device):
            object.__setattr__(self, "device", str(self.device))
        if not isinstance(self.device, str):
            raise bad("device", self.device, "cpu, cuda, …")
        for name, allowed in (("schedule", Schedule), ("positions", Positions), ("precision", Precision)):
            if getattr(self, name) not in get_args(allowed):
                raise bad(name, getattr(self, name), ", ".join(get_args(allowed)))
        if self.d_model % self.heads:
            raise TrainingError("training.heads", d_model=self.d_model, heads=self.heads)
        if self.positions == "rotary" and self.d_model // self.heads % 2:
            raise TrainingError("training.rotary", size=self.d_model // self.heads)

    def as_whole(self, name: str) -> Any:
        """A whole number of numpy's, or of anybody else's, as Python's own; what is none, as it is."""
        value = getattr(self, name)
        if not isinstance(value, bool):
            with suppress(TypeError):
                object.__setattr__(self, name, operator.index(value))
        return getattr(self, name)

    def length(self, batches: int) -> int:
        """How many steps, where an epoch has `batches` of them: one epoch unless told."""
        given = [self.steps, None if self.epochs is None else self.epochs * batches]
        return min((steps for steps in given if steps is not None), default=batches)

    def learning_rate(self, step: int, steps: int) -> float:
        """That of step `step`, the first being 1, in a run of `steps`.

        A function of these alone: a run that goes on needs no memory of it.
        """
        if step <= self.warmup:
            return self.lr * step / self.warmup
        if self.schedule == "constant":
            return self.lr
        share = (step - self.warmup) / max(1, steps - self.warmup)
        return self.lr * (1 + math.cos(math.pi * min(1.0, share))) / 2

    def to_dict(self) -> dict[str, Any]:
        """All of them by name, ready for JSON."""
        return asdict(self)


def as_float(lr: Any) -> float:
    """A learning rate. TrainingError for what is none."""
    if isinstance(lr, Real) and not isinstance(lr, bool):
        with suppress(OverflowError):  # a whole number of 400 digits
            if 0 < float(lr) < math.inf:
                return float(lr)
    raise bad("lr", lr, "> 0")


def bad(name: str, value: object, want: str) -> TrainingError:
    try:
        value = str(value)
    except ValueError:  # Python does not write whole numbers of more than 4,300 digits
        value = "…"
    value = value if len(value) <= 60 else f"{value[:60]}…"
    return TrainingError("training.bad_option", name=name, value=value, want=want)


def wrong_in(error: TrainingError) -> str:
    """Of an error of these options, the values that were wrong, as no language says them."""
    told = error.values
    values = {told["name"]: told["value"]} if "name" in told else told
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def options_for(task: Task, **given: Any) -> TrainingOptions:
    """The task's own defaults, changed by what was given; what is None was not.

    Raises TrainingError for a name or a value that is not known, a device that is not there, and a causal
    mask for a task whose model has its own.
    """
    known = [field.name for field in fields(TrainingOptions)]
    for name in (*given, *task.defaults):
        if name not in known:
            raise TrainingError("training.no_option", name=name, names=", ".join(known))
    given = {name: value for name, value in given.items() if value is not None}
    defaults = dict(task.defaults)
    if "steps" in given or "epochs" in given:  # who says how long, says it alone
        defaults = {name: value for name, value in defaults.items() if name not in ("steps", "epochs")}
    try:
        TrainingOptions(**defaults)
    except TrainingError as error:
        raise TrainingError("training.bad_defaults", task=task.called, reason=wrong_in(error)) from None
    options = TrainingOptions(**defaults | given)
    if options.causal and task.family != "encoder":
        key = "training.causal_vision" if task.family == "vision" else "training.causal"
        raise TrainingError(key, task=task.name)
    if task.family == "vision" and options.positions not in ("learned", "none"):
        raise TrainingError("training.picture_positions", positions=options.positions)
    check_device(options.device)
    return options


def changed(options: TrainingOptions, **given: Any) -> TrainingOptions:
    """The options of a run that goes on. Raises TrainingError for what would make another run of it."""
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        if not hasattr(options, name):
            raise TrainingError("training.no_option", name=name, names=", ".join(CHANGEABLE))
        if name not in CHANGEABLE and value != getattr(options, name):
            raise TrainingError(
                "training.other_option", name=name, value=value, before=getattr(options, name)
            )
    if "steps" in given or "epochs" in given:
        options = replace(options, steps=None, epochs=None)
    options = replace(options, **given)
    check_device(options.device)
    return options


def check_device(device: str) -> None:
    try:
        torch.zeros(1, device=device).item()  # "meta" makes one, and has no numbers
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise TrainingError("training.no_device", device=device, reason=reason) from None
