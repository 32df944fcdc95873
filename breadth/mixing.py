"""Whether a module that takes a softmax lets any place of a text know of another: if not, nobody looks there.

Hyper-connections (Xie et al., "mHC: manifold-constrained hyper-connections", https://arxiv.org/abs/2512.24880)
weigh the streams of each token with a softmax, for each token alone. Its shape is that of attention over
sampled points; what it does is not, and that can be tried.
"""

from typing import Any

import torch
from breadth.build import run
from torch import Tensor, nn


def alone(model: nn.Module, inputs: dict[str, Any], paths: list[str]) -> list[str]:
    """Those modules in which no place's input reaches the output of another; not where that is unclear."""
    length = inputs["input_ids"].shape[1] if "input_ids" in inputs else 0
    if length < 2 or not paths:
        return []
    calls: dict[str, tuple[tuple, dict]] = {}
    hooks = [
        model.get_submodule(path).register_forward_pre_hook(
            lambda _, a, k, path=path: calls.setdefault(path, (a, k)) and None, with_kwargs=True
        )
        for path in paths
    ]
    try:
        run(model, inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return [p for p in paths if p in calls and not mixes(model.get_submodule(p), *calls[p], length)]


def mixes(module: nn.Module, arguments: tuple, keywords: dict, length: int) -> bool:
    """Whether a change at one of `length` places changes the output at others; True if it cannot be told."""
    given = [*arguments, *keywords.values()]
    if not all(isinstance(x, Tensor) and x.dim() > 2 and x.shape[1] == length for x in given):
        return True
    place = length // 2
    others = [i for i in range(length) if i != place]

    def changed(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, place] = torch.randn_like(x[:, place])
        return x

    with torch.no_grad():
        before = _tensors(module(*arguments, **keywords))
        after = _tensors(module(*map(changed, arguments), **{n: changed(x) for n, x in keywords.items()}))
    if not all(x.dim() > 1 and x.shape[1] == length for x in before):
        return True
    untouched = all(torch.equal(x[:, place], y[:, place]) for x, y in zip(before, after, strict=True))
    return untouched or not all(
        torch.allclose(x[:, others], y[:, others], rtol=1e-5, atol=1e-6)
        for x, y in zip(before, after, strict=True)
    )


def _tensors(output: Any) -> list[Tensor]:
    return [output] if isinstance(output, Tensor) else [x for x in output if isinstance(x, Tensor)]
