"""Several processes that learn one model together, and one that learns alone: what differs between them.

All draw the same data in the same order, so each can take its slice of a batch without asking. A batch is
that of all processes together, and a step comes to what it comes to in one process, but for rounding: every
process weighs its loss by its share of the targets that are asked for, so that slices of different sizes, and
targets that are ignored, count as they do in the whole (they do not where each takes a mean of its own:
transformers#34242).

"ddp" keeps the whole model in each process (PyTorch's DistributedDataParallel), "fsdp" a part of it
(fully_shard). Checkpoints are the same files whoever wrote them: `torch.distributed.checkpoint` puts the
parts together for the first process, which writes them as it does alone. PyTorch's own writer of safetensors
is not used: in 2.13, where it joins the parts of several processes, tensors without dimensions become zeros,
and the step counts of Adam are such; whole numbers it refuses. Its other writer needs pickle to be read.
"""

import functools
import hashlib
import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from mirada.layers.block import TransformerBlock
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.options import TrainingOptions, bad
from mirada.training.stopping import Stop
from mirada.training.task import IGNORED, Batch

if TYPE_CHECKING:
    from mirada.training.job import Plan

PATIENCE = timedelta(minutes=10)  # with a process that does not answer: a large checkpoint takes minutes
FROM_OUTSIDE = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}  # what torchrun tells a process
ITS_OWN = ("training.task_failed", "training.parallel_lost", "training.parallel_folder")
T = TypeVar("T")
numbers = count()


class Alone:
    """One process, which does everything.

    Attributes:
        first: whether this is the process that writes files, prints, and tells the listener.
        world: how many processes there are.
    """

    first, world = True, 1

    def noticing(self) -> AbstractContextManager:
        """That another process is gone, or silent, as a TrainingError."""
        return nullcontext()

    def planned(self, make: "Callable[[Any], Plan]") -> "Plan":
        """What `make(None)` plans, and in the other processes `make` of the folder that the first one has."""
        return make(None)

    def from_first(self, work: Callable[[], T]) -> T:
        """What `work` gives, or the exception it raises, in the first process: in all of them."""
        return work()

    def check(self, options: TrainingOptions) -> None:
        """TrainingError for options that so many processes cannot work with."""

    def spread(self, model: nn.Module) -> nn.Module:
        """What is called in place of the model, to learn."""
        return model

    def seed(self, seed: int, step: int) -> None:
        """Before a step: what it draws, in dropout, differs between processes."""

    def share(self, batch: Batch) -> Batch:
        """This process's samples of a batch."""
        return batch

    def backward(self, loss: Tensor, batch: Batch) -> Tensor:
        """Gradients of the loss of the whole batch, from that of this process's share of it.

        Gives the loss of the whole, as a scalar that nobody has waited for.
        """
        loss.backward()
        return loss.detach()

    def whole(self, part: Tensor, samples: int) -> Tensor:
        """(samples, …), from what each process has of its share of them."""
        return part

    def ends(self, stop: Stop) -> bool:
        """Whether somebody asked for the end, in any process: all give the same answer."""
        return stop.asked

    def is_sound(self, model: nn.Module) -> bool:
        """Whether all weights are finite."""
        return bool(torch.stack([x.isfinite().all() for x in model.parameters()]).all())

    def gathered(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[Mapping[str, Any], dict[str, dict[str, Tensor]]]:
        """The model's weights and, for each parameter by name, what the optimizer keeps.

        They are whole in the first process; in the others they may be empty.
        """
        names = [name for name, _ in model.named_parameters()]
        state = optimizer.state_dict()["state"]
        return model.state_dict(), {names[i]: entries for i, entries in state.items()}

    def give(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, dict[str, Tensor]]
    ) -> None:
        """To the optimizer what `gathered` once gave."""
        number = {name: i for i, (name, _) in enumerate(model.named_parameters())}
        by_number = {number[name]: entries for name, entries in state.items()}
        optimizer.load_state_dict(optimizer.state_dict() | {"state": by_number})

    def plain(self, model: nn.Module, new: Callable[[], nn.Module]) -> nn.Module:
        """The model as one that this process can use by itself. `new` makes one that has yet to learn."""
        return model


class Several(Alone):
    """Processes that all have the whole model."""

    learner: nn.parallel.DistributedDataParallel | None = None

    def __init__(self):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.first = self.rank == 0

    def noticing(self) -> AbstractContextManager:
        return noticing()

    def planned(self, make: "Callable[[Any], Plan]") -> "Plan":
        plans: list[Plan] = []

        def first():
            plans.append(make(None))
            return plans[0].folder, plans[0].checkpoint and plans[0].checkpoint.step

        folder, step = self.from_first(first)
        if self.first:
            return plans[0]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TrainingWarning)  # the first process says it
                plan = make(folder)
            if (plan.checkpoint and plan.checkpoint.step) == step:
                return plan
        except TrainingError:
            pass
        raise TrainingError("training.parallel_folder", folder=folder, number=self.rank)

    def from_first(self, work: Callable[[], T]) -> T:
        box: list[Any] = [None, None]
        if self.first:
            try:
                box[0] = work()
            except (TrainingError, OSError) as error:
                self.send([None, portable(error)])
                raise
        self.send(box)
        if box[1] is not None:
            raise box[1]
        return box[0]

    def send(self, box: list[Any]) -> None:
        """What is in the first process's box, into all the others'."""
        dist.broadcast_object_list(box, device=torch.device("cpu"))

    def check(self, options: TrainingOptions) -> None:
        if options.batch_size < self.world:
            raise TrainingError("training.parallel_batch", world=self.world, batch_size=options.batch_size)
        if torch.device(options.device).index is not None:
            raise TrainingError("training.parallel_device", device=options.device)

    def spread(self, model: nn.Module) -> nn.Module:
        self.learner = nn.parallel.DistributedDataParallel(model)
        return self.learner

    def leave(self) -> None:
        """What must be gone before the process group is."""
        # The reducer, if it is the last to hold the group, waits for gloo's threads to end and holds the
        # interpreter's lock, which these may want first: for ever (as in pytorch#190489). An exception would
        # keep it, for its traceback knows the model.
        if self.learner is not None:
            del self.learner.reducer, self.learner.logger

    def seed(self, seed: int, step: int) -> None:
        # From these alone: no random state of the others need be saved.
        drawn = hashlib.sha256(f"{seed} {step} {self.rank}".encode()).digest()
        torch.manual_seed(int.from_bytes(drawn[:7]))

    def slice(self, samples: int, rank: int | None = None) -> slice:
        """Which of so many samples are a process's: in order, as equal as can be. It may be none."""
        rank = self.rank if rank is None else rank
        return slice(rank * samples // self.world, (rank + 1) * samples // self.world)

    def share(self, batch: Batch) -> Batch:
        mine = batch[self.slice(len(batch))]
        # All must take part in every step, and not every model can be called with no sample: one that has
        # none borrows one, which then counts nothing.
        return mine if len(mine) else batch[:1]

    def backward(self, loss: Tensor, batch: Batch) -> Tensor:
        asked = batch.targets != IGNORED
        part = loss * (asked[self.slice(len(batch))].sum() / asked.sum().clamp(min=1))
        (part * self.world).backward()  # of the gradients, the mean over the processes is taken
        told = part.detach()
        dist.all_reduce(told)
        return told

    def whole(self, part: Tensor, samples: int) -> Tensor:
        slices = [self.slice(samples, rank) for rank in range(self.world)]
        sizes = [each.stop - each.start for each in slices]
        own = part.new_zeros(max(sizes), *part.shape[1:])  # all must send as much
        own[: sizes[self.rank]] = part[: sizes[self.rank]]
        parts = [torch.empty_like(own) for _ in sizes]
        dist.all_gather(parts, own)
        return torch.cat([x[:size] for x, size in zip(parts, sizes, strict=True)])

    def ends(self, stop: Stop) -> bool:
        # In the processor's memory, by gloo: to agree on it, no GPU has to be waited for.
        word = torch.tensor((stop.signal or 1) if stop.asked else 0)
        dist.all_reduce(word, dist.ReduceOp.MAX)
        number = int(word)
        if number > 1:
            stop.signal = number
        return number > 0


class Sharded(Several):
    """Processes that each have a part of every parameter, of its gradient and of the optimizer's memory."""

    def spread(self, model: nn.Module) -> nn.Module:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        device = next(model.parameters()).device
        mesh = init_device_mesh(device.type, (self.world,))
        for module in model.modules():
            if isinstance(module, TransformerBlock):
                fully_shard(module, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return model

    def is_sound(self, model: nn.Module) -> bool:
        put_together_no_more(model)
        parts: list[Any] = list(model.parameters())
        sound = torch.stack([x.to_local().isfinite().all() for x in parts]).all().int()
        dist.all_reduce(sound, dist.ReduceOp.MIN)
        return bool(sound)

    def gathered(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[Mapping[str, Any], dict[str, dict[str, Tensor]]]:
        from torch.distributed.checkpoint import state_dict

        put_together_no_more(model)
        options = state_dict.StateDictOptions(full_state_dict=True, cpu_offload=True)
        weights = state_dict.get_model_state_dict(model, options=options)
        state: Any = {}
        if optimizer.state:  # else it would take a step to have something to tell
            state = state_dict.get_optimizer_state_dict(model, optimizer, options=options)
        return weights, state.get("state", {})

    def give(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, dict[str, Tensor]]
    ) -> None:
        from torch.distributed.checkpoint import state_dict

        if state:
            options = state_dict.StateDictOptions(full_state_dict=True)
            told: Any = state_dict.get_optimizer_state_dict(model, optimizer, options=options)
            # The first process hands out tensor after tensor, so all must have them in one order. That of a
            # safetensors file is another one each time it is read.
            names = [name for name, _ in model.named_parameters()]
            state = {name: dict(sorted(state[name].items())) for name in names}
            state_dict.set_optimizer_state_dict(model, optimizer, told | {"state": state}, options=options)

    def plain(self, model: nn.Module, new: Callable[[], nn.Module]) -> nn.Module:
        from torch.distributed.checkpoint import state_dict

        put_together_no_more(model)
        options = state_dict.StateDictOptions(full_state_dict=True)
        weights = state_dict.get_model_state_dict(model, options=options)
        plain = new()
        plain.load_state_dict(weights)
        return plain


def put_together_no_more(model: nn.Module) -> None:
    """Parameters in parts again: after an examination, the outermost module still has them whole."""
    from torch.distributed.fsdp import FSDPModule

    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()


@contextmanager
def processes(parallel: str | None, command: str) -> Iterator[Alone]:
    """Those that learn: this one alone unless told, else all that torchrun started, until the end of this.

    A program's own process group is used where there is one.

    Raises TrainingError for an unknown word, where nobody started several processes (and says by which
    `command` it is done), and when another process ends or no longer answers.
    """
    if parallel is None:
        yield Alone()
        return
    if parallel not in ("ddp", "fsdp"):
        raise bad("parallel", parallel, "ddp, fsdp")
    made = not dist.is_initialized()
    if made and not os.environ.keys() >= FROM_OUTSIDE:
        raise TrainingError("training.parallel_alone", parallel=parallel, command=command)
    with noticing():
        if made:
            join()
        team = Several() if parallel == "ddp" else Sharded()
        try:
            yield team
        finally:
            team.leave()
            if made:  # gloo may wait for ever where the interpreter does it at its end (pytorch#190489)
                dist.destroy_process_group()


def join() -> None:
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))  # "cuda" then means this one
        backend = "cpu:gloo,cuda:nccl"
    from torch.distributed.distributed_c10d import PrefixStore

    # Under a name of its own: a second run in one program would find the addresses of the first.
    store = PrefixStore(f"mirada {next(numbers)}", meeting())
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group(backend, timeout=PATIENCE, store=store, rank=rank, world_size=world)


@functools.cache
def meeting() -> Any:
    """Where the processes find each other, for as long as the program runs."""
    from torch.distributed.rendezvous import rendezvous

    return next(rendezvous("env://", timeout=PATIENCE))[0]


@contextmanager
def noticing() -> Iterator[None]:
    """That another process is gone, or silent, as a sentence."""
    try:
        with warnings.catch_warnings():
            # fully_shard says of every output that is a view what would happen if it were changed in place.
            warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)
            yield
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and "gloo" not in str(error).lower():
            raise
        reason = str(error).strip().splitlines()[0]
        raise TrainingError("training.parallel_lost", reason=reason) from error


def says(error: TrainingError) -> bool:
    """Whether it is for this process to say it: what all of them come to alike, the first one says."""
    return is_first() or error.key in ITS_OWN


def is_first() -> bool:
    return int(os.environ.get("RANK", 0)) == 0


def portable(error: TrainingError | OSError) -> TrainingError | OSError:
    """The same in another process: its sentence may be filled with things that cannot be sent."""
    if isinstance(error, OSError):
        return OSError(error.errno, error.strerror)
    return TrainingError(
        error.key, **{name: x if isinstance(x, int | float) else str(x) for name, x in error.values.items()}
    )


def starting(task: object, resume: object, parallel: str | None) -> str:
    """What is typed to start several processes."""
    what = ["--resume", str(resume)] if resume is not None else [task if isinstance(task, str) else "TASK"]
    words = ["torchrun", "--nproc-per-node", "2", "-m", "mirada.cli", "train", *what]
    return shlex.join([*words, "--parallel", str(parallel)])
