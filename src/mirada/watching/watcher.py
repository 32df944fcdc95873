"""Who watches: which model, which of its modules, and where in it a call of attention comes from."""

import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from mirada.watching.call import SAME, Apart, Call, bytes_of
from mirada.watching.forms import Masks
from mirada.watching.gaze import Gaze
from mirada.watching.inputs import Inputs

CROSS = re.compile(r"cross|enc_?dec|encoder_?att|multihead_attn", re.IGNORECASE)

# Those of this thread (and, in asyncio, of this task): watches in two threads never mix.
watching: ContextVar[tuple["Watcher", ...]] = ContextVar("watching", default=())


class Watcher:
    """One `watch`: knows the paths of a model's modules, and writes into a gaze."""

    def __init__(
        self, model: nn.Module, modules: Sequence[str] | None, heads: Sequence[int] | None, edits, memory: int
    ):
        self.model = weakref.ref(model)
        self.thread = threading.get_ident()
        self.name = type(getattr(model, "_orig_mod", model)).__name__  # that of a compiled one is no help
        named = dict(model.named_modules())
        self.paths = {id(module): tidy(path) for path, module in named.items()}
        self.modules, self.heads, self.edits, self.memory = modules, heads, tuple(edits), memory
        self.gaze = Gaze(self.name)
        self.edited: set[int] = set()  # which of the edits found something to change
        self.masks = Masks()
        self.kept = 0  # bytes, at most: what calls share is counted again
        self.elsewhere: dict[str, None] = {}  # modules that called attention and were not chosen
        for path, module in named.items():
            if is_script(module) and not (path and is_script(model.get_submodule(path.rpartition(".")[0]))):
                self.gaze.note(tidy(path), "compiled by TorchScript: what it calls cannot be seen")
        for pattern in modules or ():
            if not any(matches(path, pattern) for path in self.paths.values()):
                raise ValueError(
                    f"modules={pattern!r} matches no module of this {self.name}; "
                    f"its modules are {some(sorted(filter(None, self.paths.values())))}"
                )

    @contextmanager
    def at_work(self):
        watching.set((*watching.get(), self))
        try:
            yield
        finally:  # not by its token: those who began later may still be at work
            watching.set(tuple(other for other in watching.get() if other is not self))

    def place(self, module: nn.Module | None) -> tuple[str, nn.Module] | None:
        """The path of the module that called, and the module; None if it is not of this model."""
        if module is not None and id(module) in self.paths:
            return self.paths[id(module)], module
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if code.co_argcount and code.co_varnames[0] == "self":
                found = frame.f_locals.get("self")
                # A softmax that is a module of its own is a part of the one that attends.
                part = "softmax" in type(found).__name__.lower()
                if isinstance(found, nn.Module) and id(found) in self.paths and not part:
                    path = self.paths[id(found)]
                    if isinstance(found, nn.TransformerEncoderLayer):  # its fast path does not call the part
                        return f"{path}.self_attn".lstrip("."), found.self_attn
                    return path, found
            frame = frame.f_back
        return None

    def wants(self, path: str) -> bool:
        wanted = self.modules is None or any(matches(path, pattern) for pattern in self.modules)
        if not wanted:
            self.elsewhere[path] = None
        return wanted

    def reached(self, pattern: str) -> bool:
        """Whether anything was seen that this pattern chooses."""
        return any(matches(look.path, pattern) for look in self.gaze)

    def take(
        self, path: str, module: nn.Module, inputs: Inputs, output: Tensor | None, note: str, apart: Apart
    ) -> None:
        """Keep one call, proved by its output where there is one; else `note` says why not."""
        call = inputs.call(module.training)
        call = replace(call, note=note) if output is None else call.proved_by(inputs.value, output, apart)
        self.keep(path, module, inputs, call)

    def keep(self, path: str, module: nn.Module, inputs: Inputs, call: Call) -> None:
        """What was chosen of it, in the gaze."""
        kind = "cross" if is_cross(path, module, inputs) else "self"
        if self.heads is not None:
            for head in self.heads:
                if not 0 <= head < call.shape[1]:
                    raise ValueError(f"heads has {head}, but {path} has heads 0 to {call.shape[1] - 1}")
            call = call.only(self.heads)
        self.gaze.add(path, kind, f"{path} {type(module).__name__}", call)
        self.kept += bytes_of([call])
        if self.kept > self.memory:
            self.kept = self.gaze.memory
        if self.kept > self.memory:
            raise ValueError(
                f"at {path} the gaze holds {self.kept / 1e9:.3g} GB, and memory={self.memory} allows "
                f"{self.memory / 1e9:.3g}: choose modules (modules=) or heads (heads=), or allow more"
            )


def is_cross(path: str, module: nn.Module, inputs: Inputs) -> bool:
    """Whether the keys come from another sequence: as the function knows it, or else as the names say it."""
    if inputs.cross is not None:
        return inputs.cross
    if isinstance(told := getattr(module, "is_cross_attention", None), bool):
        return told
    return bool(CROSS.search(path.rpartition(".")[2]) or CROSS.search(type(module).__name__))


def is_script(module: nn.Module) -> bool:
    return isinstance(module, torch.jit.ScriptModule)


def tidy(path: str) -> str:
    """Without what torch.compile puts in front."""
    return path.replace("_orig_mod.", "").removesuffix("_orig_mod")


def matches(path: str, pattern: str) -> bool:
    """A pattern chooses a module, and all that is in it."""
    ends = [*(dot.start() for dot in re.finditer(r"\.", path)), len(path)]
    return any(fnmatchcase(path[:end], pattern) for end in ends)


def some(names: Iterable[str], limit: int = 12) -> str:
    names = list(names)
    return ", ".join(names[:limit]) + (f" … ({len(names)} in all)" if len(names) > limit else "")


class _Thread(threading.local):
    """What this thread is in the middle of."""

    quiet = False  # the calls of attention that now come are parts of one that is being seen
    inner: Callable | None = None  # asked in place of the fused kernel, by the function that calls it


thread = _Thread()
Place = tuple[Watcher, str, nn.Module]  # who watches, and the module that called with its path


@contextmanager
def quiet():
    """What is called now is not seen."""
    before, thread.quiet = thread.quiet, True
    try:
        yield
    finally:
        thread.quiet = before


@contextmanager
def aside():
    """Compute without being seen, without gradients, and as if no mode were active."""
    with quiet(), torch.no_grad(), torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


@contextmanager
def inner(function: Callable):
    """`function(kernel, *args, **kwargs)` is asked in place of the fused kernel."""
    before, thread.inner = thread.inner, function
    try:
        yield
    finally:
        thread.inner = before


def places(module: nn.Module | None = None, tensors: Sequence[Tensor] = ()) -> list[Place]:
    """Who watches the module that called. Asked from within a call of attention, on `tensors`.

    Nobody where these have no numbers that could be kept: that is noted.
    """
    # A context may be carried into another thread, as asyncio.to_thread does: what runs there is not seen.
    watchers = () if thread.quiet else [w for w in watching.get() if w.thread == threading.get_ident()]
    found = [(watcher, watcher.place(module)) for watcher in watchers]
    seen_by = [(watcher, *place) for watcher, place in found if place is not None and watcher.wants(place[0])]
    if seen_by and any(x.is_meta for x in tensors):
        raise ValueError(
            f"{seen_by[0][0].name} is on the meta device, where tensors have shapes and no numbers: "
            "there is nothing to see; move it to a real device"
        )
    if seen_by and (why := unreadable(tensors)):
        for watcher, path, _ in seen_by:
            watcher.gaze.note(path, why)
        return []
    return seen_by


def unreadable(tensors: Sequence[Tensor]) -> str:
    """Why the numbers of these cannot be kept; empty where they can."""
    if torch._C._are_functorch_transforms_active():
        return "called inside torch.func (vmap, grad, …), whose tensors cannot be kept"
    if any(x.is_nested for x in tensors):
        return "called with nested tensors, whose samples have lengths of their own"
    if any(isinstance(x, FakeTensor) for x in tensors):
        return "called with fake tensors, which have no numbers"
    return ""


def record(
    places: Sequence[Place], inputs: Inputs, output: Tensor | None, *, note: str = "", apart: Apart = SAME
) -> None:
    """Keep one call for everybody who watches. Called `aside`.

    `output` is what it gave, (batch, heads, rows, dv); `apart` how far the model was from it
    where it was compared before.
    """
    for watcher, path, module in places:
        watcher.take(path, module, inputs, output, note, apart)


def masks_of(places: Sequence[Place]) -> Masks:
    return places[0][0].masks
