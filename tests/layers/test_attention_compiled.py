"""torch.compile and torch.export take attention and masks in one graph, at lengths that they do not know."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from mirada import Mask, attention, attention_weights

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
MASKS = {
    "no mask": lambda queries, keys: None,
    "causal": lambda queries, keys: Mask.causal(),
    "window": lambda queries, keys: Mask.causal() & Mask.window(3),
    "padding": lambda queries, keys: Mask.padding(torch.tensor([keys, 2])),
    "left padding": lambda queries, keys: (
        Mask.causal() & Mask.window(3) & Mask.padding(torch.tensor([0, keys]), side="left")
    ),
    "bias": lambda queries, keys: Mask.bias(torch.arange(queries * keys).double().view(queries, keys) / 100),
    "blocked": lambda queries, keys: Mask.blocked(torch.eye(queries, keys, dtype=torch.bool)),
}


def tensors(queries, keys):
    torch.manual_seed(queries)
    return [
        torch.randn(2, heads, length, width, dtype=torch.float64, requires_grad=True)
        for heads, length, width in ((6, queries, 5), (2, keys, 5), (2, keys, 3))
    ]


def both(query, key, value, mask):
    return attention(query, key, value, mask), attention_weights(query, key, mask)


def everything(queries, keys):
    mask = MASKS["left padding"](queries, keys)
    for name in ("bias", "blocked"):
        mask = mask & MASKS[name](queries, keys)
    return mask


@pytest.mark.parametrize("mask", [MASKS["no mask"], MASKS["causal"], everything])
def test_compiled_whole_and_equal(mask):
    """fullgraph: no break. The lengths are dynamic. Output, weights and gradients as without."""
    torch.compiler.reset()
    compiled = torch.compile(both, fullgraph=True, dynamic=True, backend="eager")
    for queries, keys in ((7, 7), (13, 13), (5, 11)):
        results = []
        for function in (both, compiled):
            leaves = tensors(queries, keys)
            made = function(*leaves, mask(queries, keys))
            results.append([*made, *torch.autograd.grad(sum(x.square().sum() for x in made), leaves)])
        torch.testing.assert_close(*results, **CLOSE)


def test_a_mask_made_inside_what_is_compiled():
    torch.compiler.reset()

    def model(q, k, v, lengths):
        return both(q, k, v, Mask.causal() & Mask.window(4) & Mask.padding(lengths))

    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend="eager")
    for length in (7, 13):
        inputs = (*tensors(length, length), torch.tensor([3, length]))
        torch.testing.assert_close(compiled(*inputs), model(*inputs), **CLOSE)


class Looks(nn.Module):
    def forward(self, query, key, value, mask):
        return both(query, key, value, mask)


@pytest.mark.parametrize("mask", ["no mask", "causal", "padding", "left padding"])
def test_exported_with_a_mask_as_its_input(mask, tmp_path):
    """One program for every length; its mask's tensors are inputs. It survives being saved."""
    make = MASKS[mask]
    length = torch.export.Dim("length", min=2, max=1024)
    of_mask = None if make(5, 5) is None else [None] * len(torch.utils._pytree.tree_leaves(make(5, 5)))
    program = torch.export.export(
        Looks(),
        (*tensors(5, 5), make(5, 5)),
        dynamic_shapes=({2: length}, {2: length}, {2: length}, of_mask),
    )
    torch.export.save(program, tmp_path / "looks.pt2")
    again = torch.export.load(tmp_path / "looks.pt2").module()
    for size in (7, 13):
        inputs = (*tensors(size, size), make(size, size))
        torch.testing.assert_close(again(*inputs), both(*inputs), **CLOSE)


@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")  # torch's vmap, of its kernel
@pytest.mark.parametrize("mask", MASKS)
def test_under_function_transforms(mask):
    """torch.func has no hooks on saved tensors, and fake tensors no memory: neither is asked for them."""
    q, k, v = (x.detach() for x in tensors(5, 7))
    mask = MASKS[mask](5, 7)
    gradient = torch.func.grad(lambda q: attention(q, k, v, mask).square().sum())(q)
    leaf = q.clone().requires_grad_()
    wanted = torch.autograd.grad(attention(leaf, k, v, mask).square().sum(), leaf)[0]
    torch.testing.assert_close(gradient, wanted, **CLOSE)
    if mask is None or all(part.kind != "padding" for part in mask.parts):
        k, v = (x.repeat_interleave(3, dim=1) for x in (k, v))
        mapped = torch.func.vmap(lambda q, k, v: attention(q, k, v, mask))(q, k, v)
        torch.testing.assert_close(mapped, attention(q, k, v, mask), **CLOSE)


def test_fake_tensors():
    with FakeTensorMode():
        leaves = [torch.randn(2, 3, 5, 7, requires_grad=True) for _ in range(3)]
        mask = Mask.causal() & Mask.padding(torch.tensor([3, 5])) & Mask.bias(torch.randn(5, 5))
        output = attention(*leaves, mask)
        assert output.shape == (2, 3, 5, 7)
        assert [x.shape for x in torch.autograd.grad(output.sum(), leaves)] == [x.shape for x in leaves]
