"""All that a run is made of while it runs, and how it is put together: anew, or from a checkpoint."""

import os
import time
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mirada.training.checking import check_answers, check_batch, check_task
from mirada.training.checkpoints import Checkpoint, write_checkpoint
from mirada.training.data import Order
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.fingerprint import fingerprint
from mirada.training.folders import CHECKPOINTS, MAPS, METRICS
from mirada.training.metrics import Metrics
from mirada.training.plan import Plan
from mirada.training.record import Record, write_run
from mirada.training.runs import Run, put_weights
from mirada.training.snapshots import SHARE, Snapshots
from mirada.training.task import Score
from mirada.training.team import Alone

AT_ONCE = 1024  # samples of the examination in one pass


class Job:
    """Model, optimizer and data of a plan, and the files that tell of them, which the first process writes.

    Attributes:
        step, steps: how far it is, and how far it goes.
        saved: the step of the newest checkpoint.
    """

    def __init__(self, plan: Plan, team: Alone):
        self.team = team
        self.task, self.options, self.folder = plan.task, plan.options, plan.folder
        device = torch.device(self.options.device)
        check_task(self.task)
        train, validation = (check_batch(self.task, x) for x in self.task.data(self.options.seed))
        self.data = fingerprint(self.task, train, validation)
        if plan.record and plan.record.data not in (None, self.data):
            raise TrainingError("training.other_data", folder=self.folder)
        self.train, self.validation = train.to(device), validation.to(device)
        torch.manual_seed(self.options.seed)  # the model's first parameters, and then its dropout
        self.model: nn.Module = self.task.model(self.options).to(device)
        if plan.checkpoint is not None:
            put_weights(self.model, plan.checkpoint, self.folder, self.task)
        self.mask = self.task.mask(self.options)
        most = max(int(batch.targets.max()) for batch in (train, validation))
        check_answers(self.task, self.model, self.train, most, self.mask)
        self.learner = team.spread(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.options.lr, fused=True)
        self.order = Order(len(train), self.options.batch_size, self.options.seed)
        self.steps = self.options.length(self.order.batches)
        self.check_length(plan)
        self.step, self.saved, self.seconds = 0, None, 0.0
        self.began = time.perf_counter()
        until = None
        if plan.checkpoint is not None:
            self.restore(plan.checkpoint)
            until = self.saved = self.step
        self.snapshots = Snapshots(self.folder / MAPS, self.task, self.validation, self.mask, until)
        team.from_first(self.write_run)
        # Lines of the other processes have nowhere to go.
        self.metrics = Metrics(self.folder / METRICS if team.first else Path(os.devnull), until)

    def check_length(self, plan: Plan) -> None:
        """TrainingError for an end that lies behind; a TrainingWarning for one that moves a schedule."""
        done = plan.checkpoint.step if plan.checkpoint else 0
        if self.steps < done:
            raise TrainingError("training.behind", folder=self.folder, step=done, steps=self.steps)
        if not plan.record or not self.team.first or self.options.schedule == "constant":
            return
        if done and self.steps != plan.record.steps:
            told = {"schedule": self.options.schedule, "before": plan.record.steps, "steps": self.steps}
            warnings.warn(TrainingWarning("training.other_schedule", step=done, **told), stacklevel=2)

    def learn(self) -> Tensor:
        """One step. Its loss, as a scalar that nobody has waited for."""
        self.step += 1
        batch = self.train[next(self.order)]
        own = self.team.share(batch)
        self.team.seed(self.options.seed, self.step)
        with self.autocast():
            logits = self.task.run(self.learner, own, self.mask)
        loss = self.team.backward(self.task.loss(logits, own.targets), batch)
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate(self.step, self.steps)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    @torch.no_grad()
    def examine(self) -> Score:
        """How good the model is on what it has never seen."""
        self.model.eval()
        logits = []
        for start in range(0, len(self.validation), AT_ONCE):
            part = self.validation[start : start + AT_ONCE]
            with self.autocast():
                own = self.task.run(self.model, self.team.share(part), self.mask).float()
            logits.append(self.team.whole(own, len(part)))
        self.model.train()
        return self.task.judge(torch.cat(logits), self.validation.targets)

    def autocast(self):
        if self.options.precision == "float32":
            return nullcontext()
        return torch.autocast(torch.device(self.options.device).type, torch.bfloat16)

    def write_run(self) -> None:
        (self.folder / CHECKPOINTS).mkdir(exist_ok=True)
        write_run(self.folder, Record(self.task, self.options, self.steps, self.data))

    def save(self) -> None:
        """A checkpoint of this moment, and before it what was told and seen up to it. Raises OSError."""
        weights, memory = self.team.gathered(self.model, self.optimizer)
        self.team.from_first(lambda: self.write(weights, memory))
        self.saved = self.step

    def write(self, weights: Mapping[str, Tensor], memory: dict[str, dict[str, Tensor]]) -> None:
        self.metrics.sync()
        self.snapshots.write()
        state = {"random.torch": torch.get_rng_state()}
        if self.options.device.startswith("cuda"):
            state["random.cuda"] = torch.cuda.get_rng_state(self.options.device)
        for name, entries in memory.items():
            state |= {f"optimizer.{name}.{key}": x for key, x in entries.items()}
        state["random.order"], place = self.order.state()
        told = {"task": self.task.name, "order": place, "seconds": round(self.elapsed(), 3)}
        write_checkpoint(self.folder / CHECKPOINTS, self.step, weights, state, told)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Be where that checkpoint was written, whose weights the model has."""
        state, told = dict(checkpoint.state), checkpoint.told
        self.step, self.seconds = checkpoint.step, told["seconds"]
        self.order.restore(state.pop("random.order"), **told["order"])
        torch.set_rng_state(state.pop("random.torch"))
        cuda = state.pop("random.cuda", None)
        if cuda is not None and self.options.device.startswith("cuda"):
            torch.cuda.set_rng_state(cuda, self.options.device)
        memory: dict[str, dict[str, Tensor]] = {}
        for key, x in state.items():
            name, _, what = key.removeprefix("optimizer.").rpartition(".")
            memory.setdefault(name, {})[what] = x
        self.team.give(self.model, self.optimizer, memory)

    def elapsed(self) -> float:
        """Seconds of training, those before an interruption included."""
        return self.seconds + time.perf_counter() - self.began

    def every(self, name: str) -> bool:
        """Whether it is time for what an option says happens every so many steps."""
        every: Any = getattr(self.options, name)
        if every is None and name == "snapshots_every":
            every = max(1, self.steps // SHARE)
        return bool(every) and self.step % every == 0

    def run(self) -> Run:
        """The run as it is now."""
        where = (self.folder, self.task, self.options, self.model, self.step, self.steps)
        return Run(*where, self.metrics.lines, self.snapshots.steps, self.snapshots.stacked())

    def finished(self) -> Run:
        """The run as it is now, with a model that can be used by itself, in evaluation mode."""
        run = self.run()
        run.model = self.team.plain(self.model, lambda: self.task.model(self.options)).eval()
        return run
