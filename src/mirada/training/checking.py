"""What a task gives, looked at once when it is made: what is wrong is said in the words of a task."""

from typing import Any

import torch
from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.training.errors import TrainingError
from mirada.training.task import IGNORED, Batch, Task

GIVING = ("targets", "samples", "pairs", "examples", "data")  # whoever writes a task writes one of them


def check_task(task: Task) -> None:
    """TrainingError where there are no symbols, or one of them twice."""
    for symbols in task.vocabularies():
        if not symbols:
            raise TrainingError("training.no_symbols", task=task.called)
        twice = [symbol for symbol in symbols if list(symbols).count(symbol) > 1]
        if twice:
            raise TrainingError("training.same_symbol", task=task.called, symbol=twice[0])


def check_batch(task: Task, batch: Any, count: int | None = None) -> Batch:
    """The batch, if it is one of `count` samples or, unless told, of any number.

    Raises TrainingError for what is no tensor, tensors that do not fit each other, targets that are no token,
    and where nothing is asked.
    """
    if not isinstance(batch, Batch) or not isinstance(batch.inputs, tuple | list):
        found = batch if not isinstance(batch, Batch) else batch.inputs
        raise bad_data(task, found, "Batch((Tensor, …), Tensor)")
    for x in batch.inputs:
        if not isinstance(x, Tensor):
            raise bad_data(task, x, "Tensor")
    targets = batch.targets
    if not isinstance(targets, Tensor) or targets.dtype != torch.int64 or not targets.dim():
        size = len(batch.inputs[0]) if batch.inputs else "…"
        raise bad_data(task, targets, f"int64 ({size}, …)")
    sizes = [len(x) for x in (*batch.inputs, targets)]
    if not sizes[0] or len(set(sizes)) > 1:
        raise TrainingError("training.bad_batch", task=task.called, sizes=sizes)
    if count is not None and sizes[0] != count:
        raise bad_data(task, targets, f"int64 ({count}, …)")
    asked = targets != IGNORED
    if not asked.any():
        raise TrainingError("training.nothing_asked", task=task.called, method=method_of(task))
    if targets.where(asked, 0).min() < 0:
        raise bad_token(task, int(targets.where(asked, 0).min()), "0, 1, 2, …, −100")
    return batch


def check_tokens(task: Task, rows: Any, size: tuple[int, int], tokens: int) -> Tensor:
    """The rows, if they are tokens of that many symbols, (samples, length) as told; else TrainingError."""
    if not isinstance(rows, Tensor) or rows.dtype != torch.int64 or rows.shape != size:
        raise bad_data(task, rows, f"int64 {size}")
    for token in (int(rows.min()), int(rows.max())):
        if not 0 <= token < tokens:
            raise bad_token(task, token, f"0–{tokens - 1}")
    return rows


@torch.no_grad()
def check_answers(task: Task, model: nn.Module, batch: Batch, most: int, mask: Mask | None) -> None:
    """That the model answers as many places as are asked, and knows the largest target, `most`.

    Raises TrainingError. One sample is enough to see it; random numbers are afterwards as they were.
    """
    device = batch.targets.device
    model.eval()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        logits: Any = task.run(model, batch[:1], mask)
    model.train()
    if not isinstance(logits, Tensor) or not logits.is_floating_point() or logits.dim() < 2:
        raise bad_data(task, logits, "float32 (…, …)", "run")
    found, want = batch.targets.shape[1:], logits.shape[1:-1]
    if found != want:
        samples = len(batch)
        raise bad_data(task, batch.targets, f"int64 {(samples, *want)}")
    if most >= logits.shape[-1]:
        raise bad_token(task, most, f"0–{logits.shape[-1] - 1}, −100")


def bad_data(task: Task, found: Any, want: str, method: str = "") -> TrainingError:
    kind = "None" if found is None else type(found).__name__
    if isinstance(found, Tensor):
        kind = f"{str(found.dtype).removeprefix('torch.')} {tuple(found.shape)}"
    return TrainingError(
        "training.bad_data", task=task.called, method=method or method_of(task), found=kind, want=want
    )


def bad_token(task: Task, found: int, want: str) -> TrainingError:
    return TrainingError(
        "training.bad_token", task=task.called, method=method_of(task), found=found, want=want
    )


def method_of(task: Task) -> str:
    """The one that whoever wrote the task wrote, to say what is learnt."""
    for name in GIVING:
        module = getattr(getattr(type(task), name, None), "__module__", "mirada.")
        if not module.startswith("mirada."):
            return name
    return "data"
