"""B4: learning to reverse eight digits, one thread, against the ordinary loop: a DataLoader and plain Adam.

Both train the same model on the same 20,000 rows in the same order, and examine 2,000 others. Ours writes its
run to a disk as always, with maps along the way and checkpoints.
"""

import shutil
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from benchmarks.harness import Row, Run
from torch.utils.data import DataLoader, TensorDataset

from mirada import Encoder, EncoderConfig, Listener, train
from mirada.training.finding import find_task
from mirada.training.stopping import StopTraining


def ordinary() -> Run:
    learnt, unseen = find_task("reverse").data(0)

    def run() -> float:
        """One epoch, and its examination."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        torch.manual_seed(0)
        model = Encoder(EncoderConfig(vocabulary=10, max_length=8))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        data = TensorDataset(*learnt.inputs, learnt.targets)
        order = torch.Generator().manual_seed(0)
        for digits, reversed_digits in DataLoader(data, 64, shuffle=True, generator=order):
            optimizer.zero_grad()
            F.cross_entropy(model(digits).flatten(0, 1), reversed_digits.flatten()).backward()
            optimizer.step()
        with torch.no_grad():
            right = model(*unseen.inputs).argmax(-1) == unseen.targets
        torch.set_num_threads(threads)
        return right.all(1).float().mean().item()

    return run


class UntilRight(Listener):
    """Ends the run when every unseen sequence is right."""

    right = False

    def on_line(self, line: dict) -> None:
        self.right = line.get("sequences") == 1.0

    def on_step(self, step: int, loss: torch.Tensor) -> None:
        if self.right:
            raise StopTraining


def ours(until_right: bool = False) -> Run:
    def run() -> float:
        folder = Path(tempfile.mkdtemp())
        listener, every = (UntilRight(), 25) if until_right else (None, None)
        made = train("reverse", epochs=1, out=folder / "run", listener=listener, validate_every=every)
        shutil.rmtree(folder)
        assert made.score is not None
        assert made.score.sequences == 1.0
        return made.score.sequences

    return run


def rows() -> list[Row]:
    def row(name: str, until_right: bool, limit: float) -> Row:
        return Row(
            name,
            "DataLoader, plain Adam: an epoch",
            lambda: (ordinary(), ours(until_right)),
            goal=f"≤ {limit} ×",
            reached=lambda result: result.ratio <= limit,
        )

    return [
        row("reversing digits, an epoch of 20,000", False, 0.75),
        row("the same, until every unseen sequence is right", True, 0.4),
    ]
