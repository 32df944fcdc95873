"""Where `watch` listens, and how all of it is put back.

A mode of this thread sees every call of a torch function, through saved references too. It would switch off
PyTorch's own fast paths: inside the modules that have one it steps aside, and what they call is wrapped by
name. What is wrapped by name is the same for all threads, costs those that do not watch nothing, and is put
back when the last watch ends.
"""

import functools
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

from mirada.layers.attention import attention
from mirada.watching import flex, huggingface, mha, ours, sdpa
from mirada.watching.byhand import SOFTMAX, noted

SDPA = F.scaled_dot_product_attention
TAPS: dict[Any, Callable] = {
    SDPA: sdpa.tap,
    torch.ops.aten.scaled_dot_product_attention: sdpa.tap,
    torch.ops.aten.scaled_dot_product_attention.default: sdpa.tap,
    mha.ORIGINAL: mha.tap,
    attention: ours.tap,
}


class Listening(TorchFunctionMode):
    """Of the thread that watches."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if (tap := TAPS.get(func)) is not None:
            return tap(func, *args, **kwargs)
        if func in SOFTMAX:
            return noted(func, *args, **kwargs)
        if func is flex_operator():
            return flex.tap(func, *args, **kwargs)
        return func(*args, **kwargs)


def flex_operator() -> Any:
    """None where nobody has imported it: it is slow to import, and then nobody calls it."""
    return getattr(sys.modules.get("torch._higher_order_ops.flex_attention"), "flex_attention", 0)


def stepping_aside(forward: Callable) -> Callable:
    """The forward of a module that has a fast path, without the mode that would switch it off."""

    @functools.wraps(forward)
    def wrapped(self, *args, **kwargs):
        # With another mode on top, the module's fast path is off anyway.
        top = torch.overrides._get_current_function_mode()
        if not isinstance(top, Listening):
            return forward(self, *args, **kwargs)
        with torch.overrides._pop_mode_temporarily():
            return forward(self, *args, **kwargs)

    return wrapped


def by_name(tap: Callable, original: Callable) -> Callable:
    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        return tap(original, *args, **kwargs)

    return wrapped


class _Wrapped:
    """What is wrapped by name, for as long as anybody watches."""

    def __init__(self):
        self.lock = threading.Lock()
        self.watches = 0
        self.undo = ExitStack()

    def __enter__(self):
        with self.lock:
            if self.watches == 0:
                self.wrap()
            self.watches += 1

    def __exit__(self, *_):
        with self.lock:
            self.watches -= 1
            if self.watches == 0:
                self.undo.close()

    def wrap(self) -> None:
        for module in (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder):
            self.put(module, "forward", stepping_aside(module.forward))
        for home, name, tap in (
            (F, "scaled_dot_product_attention", sdpa.tap),
            (F, "multi_head_attention_forward", mha.tap),
            (torch, "_native_multi_head_attention", mha.tap_fast),
            (torch, "_transformer_encoder_layer_fwd", mha.tap_layer),
        ):
            self.put(home, name, by_name(tap, getattr(home, name)))
        if (interface := huggingface.interface()) is not None:
            for name in ("get_interface", "__getitem__"):
                self.put(interface, name, by_name(huggingface.tap_lookup, getattr(interface, name)))
        if "torch._dynamo" in sys.modules:  # else nothing is compiled
            self.undo.enter_context(torch.compiler.set_stance("force_eager"))

    def put(self, home: Any, name: str, value: Callable) -> None:
        if name in vars(home):
            self.undo.callback(setattr, home, name, vars(home)[name])
        else:  # inherited
            self.undo.callback(delattr, home, name)
        setattr(home, name, value)


wrapped = _Wrapped()
