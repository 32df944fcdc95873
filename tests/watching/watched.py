"""Run a model with and without being watched, and compare all that it leaves behind."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

import mirada
from mirada import Gaze


class Calls(nn.Module):
    """A module whose forward is a function."""

    def __init__(self, function: Callable, **parts: nn.Module):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


def seen(model: nn.Module, *args, modules=None, heads=None, **kwargs) -> Gaze:
    """The gaze; outputs and random numbers are as without it, bit for bit."""
    torch.manual_seed(3)
    expected = flat(model(*args, **kwargs))
    state = torch.get_rng_state()
    torch.manual_seed(3)
    with mirada.watch(model, modules, heads=heads) as gaze:
        found = flat(model(*args, **kwargs))
    assert torch.equal(torch.get_rng_state(), state)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        assert same(a, b)
    return gaze


def flat(outputs) -> list[Tensor]:
    if isinstance(outputs, Tensor):
        return list(outputs.unbind()) if outputs.is_nested else [outputs]
    return [x for part in outputs if part is not None for x in flat(part)]


def same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())


def gradients(model: nn.Module, *args, watched: bool) -> list[Tensor]:
    torch.manual_seed(5)
    model.zero_grad()
    if watched:
        with mirada.watch(model):
            output = flat(model(*args))[0]
    else:
        output = flat(model(*args))[0]
    (output * torch.linspace(-1, 1, output.shape[-1]).to(output)).sum().backward()
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def close(found: Tensor, wanted: Tensor, within: float = 1e-6) -> None:
    assert found.dtype == torch.float32
    assert found.shape == wanted.shape
    torch.testing.assert_close(found.double(), wanted.double(), rtol=0, atol=within)
