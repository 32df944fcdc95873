"""Where `watch` listens, and how all of it is put back.

A mode of this thread sees every call of a torch function, through saved references too. It would switch off
PyTorch's own fast paths: inside the modules that have one it steps aside, and what they call is wrapped by
name; inside a part of them that somebody else wrote it is back. The fused kernel keeps its name: tensors that
are classes of their own ask whether it `is` what was called. What is wrapped by name is the same for all
threads, costs those that do not watch nothing, and is put back when the last watch ends.
"""

import functools
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._ops import HigherOrderOperator
from torch.overrides import TorchFunctionMode

from mirada.layers.attention import attention
from mirada.watching import byhand, flex, huggingface, mha, ours, sdpa
from mirada.watching.watcher import thread

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

    def __init__(self):
        super().__init__()
        self.followed = byhand.Followed()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if (tap := TAPS.get(func)) is not None:
            return tap(func, *args, **kwargs)
        if not thread.quiet and func in byhand.SOFTMAX:
            return byhand.softmax(self.followed, func, *args, **kwargs)
        if not thread.quiet and func in byhand.STEPS:
            return self.followed.call(func, args, kwargs)
        if isinstance(func, HigherOrderOperator) and func.name() == "flex_attention":
            return flex.tap(func, *args, **kwargs)
        return func(*args, **kwargs)


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


def coming_back(forward: Callable) -> Callable:
    """The forward of somebody else's module inside one of those, with the mode."""

    @functools.wraps(forward)
    def wrapped(self, *args, **kwargs):
        if not ears.watches or thread.quiet or any(isinstance(mode, Listening) for mode in modes()):
            return forward(self, *args, **kwargs)
        with Listening():
            return forward(self, *args, **kwargs)

    return wrapped


def by_name(tap: Callable, original: Callable) -> Callable:
    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        return tap(original, *args, **kwargs)

    return wrapped


def modes() -> list[TorchFunctionMode]:
    return torch.overrides._get_current_function_mode_stack()


class _Ears(threading.local):
    watches = 0


ears = _Ears()


@contextmanager
def listening():
    """With the mode in this thread: one, however many watch, whoever of them leaves first."""
    here = threading.get_ident()
    ears.watches += 1
    if ears.watches == 1:
        torch.overrides._push_mode(Listening())
    try:
        yield
    finally:
        if threading.get_ident() != here:
            raise RuntimeError(
                "a watch was entered in one thread and left in another: leave it where it began"
            )
        ears.watches -= 1
        if not ears.watches and any(isinstance(mode, Listening) for mode in modes()):
            above = []  # modes that came later and are still there
            while not isinstance(mode := torch.overrides._pop_mode(), Listening):
                above.append(mode)
            for mode in reversed(above):
                torch.overrides._push_mode(mode)


FAST = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder)


class _Wrapped:
    """What is wrapped by name, for as long as anybody watches."""

    def __init__(self):
        self.lock = threading.Lock()
        self.watches = 0
        self.undo = ExitStack()
        self.back: set[type] = set()  # classes in which the mode comes back

    @contextmanager
    def around(self, model: nn.Module):
        with self.lock:
            if self.watches == 0:
                self.wrap()
            self.watches += 1
            self.bring_back(model)
        try:
            yield
        finally:
            with self.lock:
                self.watches -= 1
                if self.watches == 0:
                    self.undo.close()
                    self.back.clear()

    def bring_back(self, model: nn.Module) -> None:
        parts = {type(part) for fast in model.modules() if isinstance(fast, FAST) for part in fast.modules()}
        for kind in parts - self.back:
            its_own = not (getattr(kind.forward, "__module__", None) or "").startswith("torch.")
            if its_own and not issubclass(kind, torch.jit.ScriptModule):
                self.put(kind, "forward", coming_back(kind.forward))
                self.back.add(kind)

    def wrap(self) -> None:
        for module in FAST:
            self.put(module, "forward", stepping_aside(module.forward))
        for home, name, tap in (
            (F, "multi_head_attention_forward", mha.tap),
            (torch, "_native_multi_head_attention", mha.tap_fast),
            (torch, "_transformer_encoder_layer_fwd", mha.tap_layer),
        ):
            self.put(home, name, by_name(tap, getattr(home, name)))
        if (interface := huggingface.interface()) is not None:
            for name in ("get_interface", "__getitem__"):
                self.put(interface, name, by_name(huggingface.tap_lookup, getattr(interface, name)))
        if "torch._dynamo" in sys.modules:
            self.run_eagerly()
        else:  # slow to import: then nothing is compiled yet
            self.put(torch, "compile", self.compiling(torch.compile))

    def run_eagerly(self) -> None:
        self.undo.enter_context(torch.compiler.set_stance("force_eager"))

    def compiling(self, compile: Callable) -> Callable:
        """torch.compile, which imports what runs eagerly from then on."""

        @functools.wraps(compile)
        def wrapped(*args, **kwargs):
            compiled = compile(*args, **kwargs)
            with self.lock:
                if self.watches and vars(torch)["compile"] is wrapped:
                    torch.compile = compile
                    self.run_eagerly()
            return compiled

        return wrapped

    def put(self, home: Any, name: str, value: Callable) -> None:
        if name in vars(home):
            self.undo.callback(setattr, home, name, vars(home)[name])
        else:  # inherited
            self.undo.callback(delattr, home, name)
        setattr(home, name, value)


wrapped = _Wrapped()
