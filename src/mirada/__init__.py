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
    from mirada.layers.positions import LearnedPositions as LearnedPositions
    from mirada.layers.positions import RotaryPositions as RotaryPositions
    from mirada.layers.positions import SinusoidalPositions as SinusoidalPositions
    from mirada.layers.positions import sinusoidal_positions as sinusoidal_positions
    from mirada.pretrained.torch_layers import from_torch as from_torch
    from mirada.pretrained.torch_layers import to_torch as to_torch
    from mirada.views.scene import Scene as Scene
    from mirada.views.widget import Words as Words

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
    "KVCache": "mirada.layers.cache",
    "MultiHeadAttention": "mirada.layers.multihead",
    "TransformerBlock": "mirada.layers.block",
    "BlockConfig": "mirada.layers.block",
    "from_torch": "mirada.pretrained.torch_layers",
    "to_torch": "mirada.pretrained.torch_layers",
    "Scene": "mirada.views.scene",
    "Words": "mirada.views.widget",
}

__all__ = ["__version__", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'mirada' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
