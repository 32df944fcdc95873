"""A block compiled, and a block exported, says what it says without: at two lengths, with one graph."""

import shutil

import pytest
import torch
from torch import nn

from mirada import BlockConfig, Mask, RotaryPositions, TransformerBlock

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
BATCH, D_MODEL, D_CONTEXT = 3, 14, 11
LENGTHS = (7, 13)
MASKS = {
    "no mask": lambda: None,
    "causal": lambda: Mask.causal(),
    "causal, window": lambda: Mask.causal() & Mask.window(3),
    "padding": lambda: Mask.padding(torch.tensor([3, 5, 2])),
    "causal, left padding": lambda: Mask.causal() & Mask.padding(torch.tensor([3, 5, 0]), side="left"),
}
CONFIGS = {
    "default": BlockConfig(),
    "post-norm, gelu": BlockConfig(norm_first=False, activation="gelu"),
    "rms, gated, grouped, rotary": BlockConfig(
        norm="rms", activation="swiglu", bias=False, num_kv_heads=1, head_dim=6, rotary=RotaryPositions(6)
    ),
}


def why_no_compiler() -> str:
    """Why torch.compile cannot work here, or nothing."""
    try:
        from torch._inductor.cpp_builder import get_cpp_compiler

        compiler = get_cpp_compiler()
    except Exception as error:
        return f"torch.compile finds no C++ compiler: {error}"
    return "" if shutil.which(compiler) else f"torch.compile needs a C++ compiler; {compiler} is not there"


NO_COMPILER = why_no_compiler()


def build(config, seed=0):
    torch.manual_seed(seed)
    return TransformerBlock(D_MODEL, 2, 23, config, dtype=torch.float64)


def inputs(length):
    torch.manual_seed(length)
    return torch.randn(BATCH, length, D_MODEL, dtype=torch.float64)


class Causal(nn.Module):
    """A model that makes its mask itself."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        return self.block(x, mask=Mask.causal())


# Attention by itself is exported with every mask: here each of its ways once, and a mask of several parts.
@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("default", "no mask"),
        ("default", "causal, left padding"),
        ("post-norm, gelu", "causal, window"),
        ("rms, gated, grouped, rotary", "causal"),
    ],
)
def test_exported(name, mask):
    block, mask = build(CONFIGS[name]).eval(), MASKS[mask]()
    length = torch.export.Dim("length", min=2, max=1024)
    tensors = None if mask is None else [None] * len(torch.utils._pytree.tree_leaves(mask))
    program = torch.export.export(
        block,
        (inputs(5),),
        {"mask": mask},
        dynamic_shapes={"x": {1: length}, "mask": tensors},
    )
    for length in LENGTHS:
        x = inputs(length)
        torch.testing.assert_close(program.module()(x, mask=mask), block(x, mask=mask), **CLOSE)


def test_exported_with_a_mask_made_inside():
    model = Causal(build(BlockConfig())).eval()
    length = torch.export.Dim("length", min=2, max=1024)
    program = torch.export.export(model, (inputs(5),), dynamic_shapes={"x": {1: length}})
    for length in LENGTHS:
        torch.testing.assert_close(program.module()(inputs(length)), model(inputs(length)), **CLOSE)


def test_exported_with_a_context():
    block = build(BlockConfig(cross_attention=True, d_context=D_CONTEXT)).eval()
    length, keys = torch.export.Dim("length", min=2, max=1024), torch.export.Dim("keys", min=2, max=1024)
    seen = {n: torch.randn(BATCH, n + 4, D_CONTEXT, dtype=torch.float64) for n in (5, *LENGTHS)}
    program = torch.export.export(
        block,
        (inputs(5), seen[5], Mask.causal(), Mask.padding(torch.tensor([3, 5, 2]))),
        dynamic_shapes={"x": {1: length}, "context": {1: keys}, "mask": [], "context_mask": [None]},
    )
    for n in LENGTHS:
        given = (inputs(n), seen[n], Mask.causal(), Mask.padding(torch.tensor([1, 7, 4])))
        torch.testing.assert_close(program.module()(*given), block(*given), **CLOSE)


def agree_at_two_lengths(compiled, block, masks):
    """The first length compiles; the second one finds a graph that serves it too."""
    for length, stance in zip(LENGTHS, ("default", "fail_on_recompile"), strict=True):
        x = inputs(length)
        for mask in masks:
            with torch.compiler.set_stance(stance):
                ours = compiled(x, mask=mask())
            expected = block(x, mask=mask())
            torch.testing.assert_close(ours, expected, **CLOSE)
            gradients = [torch.autograd.grad(y.square().sum(), block.parameters()) for y in (ours, expected)]
            torch.testing.assert_close(*gradients, **CLOSE)


@pytest.mark.parametrize("mask", ["no mask", "causal"])
@pytest.mark.skipif(bool(NO_COMPILER), reason=NO_COMPILER)
@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # inductor still uses it
def test_compiled_to_machine_code(mask):
    torch._dynamo.reset()
    block = build(BlockConfig())
    compiled = torch.compile(block, fullgraph=True, dynamic=True)
    agree_at_two_lengths(compiled, block, [MASKS[mask]])


@pytest.mark.parametrize(
    ("name", "masks"),
    [
        ("default", ["no mask", "padding", "causal, left padding"]),
        ("post-norm, gelu", ["causal, window"]),
        ("rms, gated, grouped, rotary", ["causal"]),
    ],
)
def test_captured_whole(name, masks):
    # Without the machine code, which is slow to make: no graph break, and no graph tied to a length.
    torch._dynamo.reset()
    block = build(CONFIGS[name])
    compiled = torch.compile(block, backend="eager", fullgraph=True, dynamic=True)
    agree_at_two_lengths(compiled, block, [MASKS[mask] for mask in masks])
