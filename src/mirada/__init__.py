"""Mirada: whom does each word look at?

Public names are imported when they are first used, so that `import mirada` and the command line
stay quick: torch is loaded only by the names that need it.
"""

from importlib import import_module

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
