"""Mirada: whom does each word look at?

Public names are imported when they are first used, so that `import mirada` and the command line
stay quick: torch is loaded only by the names that need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers, which do not run what stands below
    from mirada.layers.attention import attention as attention
    from mirada.layers.attention import attention_weights as attention_weights
    from mirada.layers.block import BlockConfig as BlockConfig
    from mirada.layers.block import TransformerBlock as TransformerBlock
    from mirada.layers.cache import KVCache as KVCache
    from mirada.layers.masks import Mask as Mask
    from mirada.layers.multihead import MultiHeadAttention as MultiHeadAttention
    from mirada.layers.patches import crop as crop
    from mirada.layers.patches import pad as pad
    from mirada.layers.patches import patches as patches
    from mirada.layers.patches import unpatch as unpatch
    from mirada.layers.positions import LearnedPositions as LearnedPositions
    from mirada.layers.positions import RotaryPositions as RotaryPositions
    from mirada.layers.positions import SinusoidalPositions as SinusoidalPositions
    from mirada.layers.positions import sinusoidal_positions as sinusoidal_positions
    from mirada.models.config import DecoderConfig as DecoderConfig
    from mirada.models.config import EncoderConfig as EncoderConfig
    from mirada.models.config import EncoderDecoderConfig as EncoderDecoderConfig
    from mirada.models.config import VisionConfig as VisionConfig
    from mirada.models.counting import describe_cost as describe_cost
    from mirada.models.counting import num_parameters as num_parameters
    from mirada.models.counting import summary as summary
    from mirada.models.decoder import Decoder as Decoder
    from mirada.models.encoder import Encoder as Encoder
    from mirada.models.encoder_decoder import EncoderDecoder as EncoderDecoder
    from mirada.models.generation import generate as generate
    from mirada.models.generation import stream as stream
    from mirada.models.vision import VisionTransformer as VisionTransformer
    from mirada.pretrained.torch_layers import from_torch as from_torch
    from mirada.pretrained.torch_layers import to_torch as to_torch
    from mirada.pretrained.vit import from_vit as from_vit
    from mirada.training.errors import TrainingError as TrainingError
    from mirada.training.families import DecoderTask as DecoderTask
    from mirada.training.families import EncoderDecoderTask as EncoderDecoderTask
    from mirada.training.families import EncoderTask as EncoderTask
    from mirada.training.images_task import ImagesTask as ImagesTask
    from mirada.training.loop import train as train
    from mirada.training.options import TrainingOptions as TrainingOptions
    from mirada.training.pictures import open_picture as open_picture
    from mirada.training.runs import Run as Run
    from mirada.training.runs import load_run as load_run
    from mirada.training.stopping import Listener as Listener
    from mirada.training.task import Batch as Batch
    from mirada.training.task import Task as Task
    from mirada.training.tasks_images import ImageFolder as ImageFolder
    from mirada.views import figures as figures
    from mirada.views.scene import Scene as Scene
    from mirada.views.widget import Words as Words
    from mirada.watching import edits as edits
    from mirada.watching.comparing import compare as compare
    from mirada.watching.files import load_gaze as load_gaze
    from mirada.watching.gaze import Gaze as Gaze
    from mirada.watching.look import Look as Look
    from mirada.watching.watch import NothingSeen as NothingSeen
    from mirada.watching.watch import record as record
    from mirada.watching.watch import watch as watch

__version__ = "0.1.0"

# public name -> module that defines it
_HOMES = {
    "attention": "mirada.layers.attention",
    "attention_weights": "mirada.layers.attention",
    "Mask": "mirada.layers.masks",
    "sinusoidal_positions": "mirada.layers.positions",
    "LearnedPositions": "mirada.layers.positions",
    "SinusoidalPositions": "mirada.layers.positions",
    "RotaryPositions": "mirada.layers.positions",
    "patches": "mirada.layers.patches",
    "unpatch": "mirada.layers.patches",
    "crop": "mirada.layers.patches",
    "pad": "mirada.layers.patches",
    "KVCache": "mirada.layers.cache",
    "MultiHeadAttention": "mirada.layers.multihead",
    "TransformerBlock": "mirada.layers.block",
    "BlockConfig": "mirada.layers.block",
    "DecoderConfig": "mirada.models.config",
    "EncoderConfig": "mirada.models.config",
    "EncoderDecoderConfig": "mirada.models.config",
    "VisionConfig": "mirada.models.config",
    "Encoder": "mirada.models.encoder",
    "Decoder": "mirada.models.decoder",
    "EncoderDecoder": "mirada.models.encoder_decoder",
    "VisionTransformer": "mirada.models.vision",
    "describe_cost": "mirada.models.counting",
    "num_parameters": "mirada.models.counting",
    "summary": "mirada.models.counting",
    "generate": "mirada.models.generation",
    "stream": "mirada.models.generation",
    "from_torch": "mirada.pretrained.torch_layers",
    "to_torch": "mirada.pretrained.torch_layers",
    "from_vit": "mirada.pretrained.vit",
    "train": "mirada.training.loop",
    "Run": "mirada.training.runs",
    "load_run": "mirada.training.runs",
    "Task": "mirada.training.task",
    "Batch": "mirada.training.task",
    "DecoderTask": "mirada.training.families",
    "EncoderDecoderTask": "mirada.training.families",
    "EncoderTask": "mirada.training.families",
    "ImagesTask": "mirada.training.images_task",
    "ImageFolder": "mirada.training.tasks_images",
    "open_picture": "mirada.training.pictures",
    "TrainingOptions": "mirada.training.options",
    "TrainingError": "mirada.training.errors",
    "Listener": "mirada.training.stopping",
    "Scene": "mirada.views.scene",
    "Words": "mirada.views.widget",
    "watch": "mirada.watching.watch",
    "record": "mirada.watching.watch",
    "NothingSeen": "mirada.watching.watch",
    "Gaze": "mirada.watching.gaze",
    "load_gaze": "mirada.watching.files",
    "compare": "mirada.watching.comparing",
    "edits": "mirada.watching",  # modules, not names in one
    "figures": "mirada.views",
    "Look": "mirada.watching.look",
}

__all__ = ["__version__", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'mirada' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = getattr(home, name, None) or import_module(f"{_HOMES[name]}.{name}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
