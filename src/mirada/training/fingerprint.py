"""What a run learns from, in one number: whether it is still the same when the run goes on."""

import hashlib
import json

import torch

from mirada.training.task import Batch, Task


def fingerprint(task: Task, train: Batch, validation: Batch) -> str:
    """SHA-256 of all samples, and of what their tokens stand for.

    A run keeps it. The name of a task does not say that its file was edited, or its `train_size` set.
    """
    total = hashlib.sha256(json.dumps([list(symbols) for symbols in task.vocabularies()]).encode())
    for batch in (train, validation):
        for x in (*batch.inputs, batch.targets):
            x = x.detach().cpu().contiguous()
            total.update(f"{x.dtype} {tuple(x.shape)}".encode())
            total.update(x.reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()
