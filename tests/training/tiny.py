"""A task that is learnt in no time: its sizes are different primes, and its model draws random numbers."""

from mirada import BlockConfig
from mirada.models.config import EncoderConfig
from mirada.models.encoder import Encoder
from mirada.training.families import EncoderTask
from mirada.training.loop import train
from mirada.training.stopping import Listener, StopTraining


class Tiny(EncoderTask):
    name = "tiny"
    symbols = "abcde"
    length = 7
    train_size, validation_size = 41, 13  # an epoch is four batches of 11, the last of 8
    defaults = {"batch_size": 11, "d_model": 6, "heads": 2, "epochs": 1, "lr": 0.01}  # noqa: RUF012
    dropout = 0.3

    def targets(self, rows):
        return rows.flip(1)

    def model(self, options):
        sizes = {"vocabulary": 5, "max_length": 7, "d_model": options.d_model, "num_heads": options.heads}
        return Encoder(EncoderConfig(**sizes, block=BlockConfig(dropout=self.dropout)))


class StopAt(Listener):
    def __init__(self, step):
        self.step = step

    def on_step(self, step, loss):
        if step == self.step:
            raise StopTraining


def stopped(task, step, **options):
    return train(task, listener=StopAt(step), **options)


def everything(run):
    """All that makes a run what it is, but for the time it took."""
    checkpoint = max((run.folder / "checkpoints").glob("step-*"))
    files = {path.name: path.read_bytes() for path in checkpoint.glob("*.safetensors")}
    lines = [{name: x for name, x in line.items() if name != "seconds"} for line in run.metrics]
    maps = {name: x.tolist() for name, x in run.maps.items()}
    weights = {name: x.tolist() for name, x in run.model.state_dict().items()}
    return files, lines, run.snapshots, maps, weights, checkpoint.name
