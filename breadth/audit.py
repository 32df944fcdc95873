"""Where in a model attention is computed, found without what is under test: by the operations that run."""

import re
from collections.abc import Callable

from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

FUSED = re.compile(
    r"scaled_dot_product|native_multi_head_attention|transformer_encoder_layer_fwd|flex_attention"
)
SOFTMAX = re.compile(r"aten\._?(safe_|log_)?softmax")
ATTENTION = re.compile(r"(?i)attention|attn")


class _Operations(TorchDispatchMode):
    def __init__(self, names: dict[nn.Module, str]):
        super().__init__()
        self.names, self.stack, self.found = names, [], {}

    def __torch_dispatch__(self, operation, types, arguments=(), keywords=None):
        name = str(operation)
        if FUSED.search(name):
            self._note("fused attention")
        elif SOFTMAX.search(name) and arguments[0].dim() >= 3 and any(map(self._attends, self.stack)):
            self._note("a softmax")
        return operation(*arguments, **(keywords or {}))

    def _attends(self, module: nn.Module) -> bool:
        return bool(ATTENTION.search(type(module).__name__))

    def _note(self, what: str) -> None:
        if self.stack:
            self.found.setdefault(self.names[self.stack[-1]], what)


def places(model: nn.Module, run: Callable[[], object]) -> dict[str, str]:
    """{module path: what ran}: fused attention anywhere, a softmax in a module named for attention."""
    names = {module: name for name, module in model.named_modules()}
    mode = _Operations(names)

    def enter(module, *_):
        mode.stack.append(module)

    def leave(module, *_):
        while mode.stack and mode.stack.pop() is not module:
            pass

    hooks = [h for m in names for h in (m.register_forward_pre_hook(enter), m.register_forward_hook(leave))]
    try:
        with mode:
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return mode.found
