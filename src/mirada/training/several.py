"""Several processes that learn one model together: what differs from one that learns alone.

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

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from mirada.layers.block import TransformerBlock
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.options import TrainingOptions
from mirada.training.stopping import Stop
from mirada.training.task import IGNORED, Batch
from mirada.training.team import Alone, T

if TYPE_CHECKING:
    from mirada.training.job import Plan


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


def portable(error: TrainingError | OSError) -> TrainingError | OSError:
    """The same in another process: its sentence may be filled with things that cannot be sent."""
    if isinstance(error, OSError):
        return OSError(error.errno, error.strerror)
    return TrainingError(
        error.key, **{name: x if isinstance(x, int | float) else str(x) for name, x in error.values.items()}
    )
