"""Rotary positions, against complex numbers that are turned one by one in double precision."""

import cmath

import pytest
import torch
from torch import nn

from mirada import RotaryPositions

LAYOUTS = ["half", "interleaved"]
HALVES = [torch.bfloat16, torch.float16]


def pairs(head_dim, layout):
    half = head_dim // 2
    return [(i, i + half) if layout == "half" else (2 * i, 2 * i + 1) for i in range(half)]


def by_complex_numbers(x, positions, base, layout):
    """Equation 34 of RoFormer: pair i, read as one complex number, times e^(j · position / base^(2i/d))."""
    batch, heads, length, head_dim = x.shape
    out = torch.empty(x.shape, dtype=torch.float64)
    for b in range(batch):
        for h in range(heads):
            for t in range(length):
                for i, (re, im) in enumerate(pairs(head_dim, layout)):
                    angle = positions[b][t] / base ** (2 * i / head_dim)
                    z = complex(x[b, h, t, re], x[b, h, t, im]) * cmath.exp(1j * angle)
                    out[b, h, t, re], out[b, h, t, im] = z.real, z.imag
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("head_dim", "base"), [(2, 10000.0), (14, 10000.0), (6, 500000.0), (10, 7.0)])
def test_rotary_equals_complex_numbers(layout, head_dim, base):
    x = torch.randn(2, 3, 5, head_dim, dtype=torch.float64)
    positions = torch.tensor([[0, 1, 2, 3, 4], [11, 7, 0, 101, 13]])
    out = RotaryPositions(head_dim, base=base, layout=layout)(x, positions)
    expected = by_complex_numbers(x, positions.tolist(), base, layout)
    torch.testing.assert_close(out, expected, rtol=0, atol=1e-12)


# gpt-neox#1003, transformers#29285, candle#3520: bfloat16 takes 1857 for 1856, and float32 itself is off
# by a thousandth of a radian at 15,962. Half a rounding step of the dtype is all that may be lost.
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [*HALVES, torch.float32, torch.float64])
def test_far_positions_are_exact_in_every_dtype(layout, dtype):
    x = torch.randn(1, 3, 3, 14).to(dtype)
    far = torch.tensor([1857, 15962, 131071])
    rotary = RotaryPositions(14, layout=layout).to(dtype)
    out = rotary(x, far)
    assert out.dtype == dtype
    expected = by_complex_numbers(x, [far.tolist()], 10000.0, layout)
    computed_in = torch.float64 if dtype == torch.float64 else torch.float32
    steps = torch.finfo(dtype).eps / 2 * expected.abs() + 8 * torch.finfo(computed_in).eps
    if dtype == torch.float64:
        steps += 131071 * torch.finfo(dtype).eps  # an angle of 131,071 has so many digits after the point
    assert ((out.double() - expected).abs() <= steps).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_casting_the_model_does_not_touch_the_frequencies(dtype):
    x, far = torch.randn(1, 2, 2, 14), torch.tensor([1857, 15962])
    rotary = RotaryPositions(14)
    assert not rotary.state_dict()
    assert torch.equal(nn.Sequential(RotaryPositions(14)).to(dtype)[0](x, far), rotary(x, far))


def test_the_layouts_are_one_up_to_the_order_of_the_numbers():
    x = torch.randn(2, 3, 5, 14, dtype=torch.float64)
    order = [index for pair in pairs(14, "half") for index in pair]  # half read in the interleaved order
    half, interleaved = (RotaryPositions(14, layout=layout) for layout in LAYOUTS)
    assert torch.equal(half(x)[..., order], interleaved(x[..., order]))
    assert not torch.allclose(half(x), interleaved(x))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_vector_changes_its_length_and_position_zero_changes_nothing(layout):
    x = torch.randn(2, 3, 5, 14, dtype=torch.float64)
    out = RotaryPositions(14, layout=layout)(x)
    torch.testing.assert_close(out.norm(dim=-1), x.norm(dim=-1), rtol=1e-14, atol=0)
    assert torch.equal(out[:, :, 0], x[:, :, 0])
    assert not torch.allclose(out[:, :, 1], x[:, :, 1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shift", [1, 13, 15962])
def test_the_product_depends_on_the_difference_of_positions_only(layout, shift):
    rotary = RotaryPositions(14, layout=layout)
    query, key = torch.randn(2, 1, 1, 7, 14, dtype=torch.float64)
    here, there = torch.tensor([0, 3, 5, 2, 11, 7, 1]), torch.tensor([2, 3, 1, 13, 4, 0, 6])

    def products(shift):
        return rotary(query, here + shift) @ rotary(key, there + shift).transpose(-2, -1)

    torch.testing.assert_close(products(shift), products(0), rtol=0, atol=1e-10)
    moved = rotary(query, here + shift) @ rotary(key, there).transpose(-2, -1)
    assert not torch.allclose(moved, products(0))


def test_positions_count_from_zero_unless_given_and_may_differ_between_samples():
    rotary = RotaryPositions(14)
    x = torch.randn(2, 3, 5, 14)
    counted = torch.arange(5, dtype=torch.int32)
    assert torch.equal(rotary(x), rotary(x, counted))
    assert torch.equal(rotary(x), rotary(x, counted.expand(2, 5)))
    left_padded = torch.tensor([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])
    out = rotary(x, left_padded)
    for sample in range(2):
        assert torch.equal(out[sample], rotary(x[sample : sample + 1], left_padded[sample])[0])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_empty_input_and_gradients(layout):
    rotary = RotaryPositions(6, layout=layout)
    assert rotary(torch.zeros(2, 3, 0, 6)).shape == (2, 3, 0, 6)
    assert rotary(torch.zeros(0, 3, 5, 6), torch.zeros(0, 5, dtype=torch.int64)).shape == (0, 3, 5, 6)
    x = torch.randn(2, 1, 3, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(rotary, (x, torch.tensor([[0, 3, 1857], [1, 2, 3]])))


def test_what_does_not_fit_is_refused():
    for head_dim in (7, 0, -2):
        with pytest.raises(ValueError, match=f"head_dim must be even, got {head_dim}"):
            RotaryPositions(head_dim)
    with pytest.raises(ValueError, match='"half" or "interleaved", got \'neox\''):
        RotaryPositions(14, layout="neox")
    for base in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="base > 0"):
            RotaryPositions(14, base=base)
    rotary, x = RotaryPositions(14), torch.zeros(2, 3, 5, 14)
    for bad in (x[0], x[..., :10]):
        with pytest.raises(ValueError, match=r"\(batch, heads, length, 14\), got "):
            rotary(bad)
    for shape in [(3,), (1, 5), (3, 5), (2, 3), (2, 1, 5), ()]:
        with pytest.raises(ValueError, match=r"positions of shape \(5,\) or \(2, 5\), got"):
            rotary(x, torch.zeros(shape, dtype=torch.int64))
    for dtype in (*HALVES, torch.bool):
        with pytest.raises(TypeError, match=rf"whole numbers.*got {dtype}"):
            rotary(x, torch.zeros(5, dtype=dtype))


class BothLayouts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = (RotaryPositions(14, layout=layout) for layout in LAYOUTS)

    def forward(self, x, positions):
        return self.first(self.second(x), positions)


def test_rotary_compiles_without_a_break_and_exports_with_a_length_that_varies():
    model, length = BothLayouts(), torch.export.Dim("length", min=2, max=83)
    shapes = {"x": {2: length}, "positions": {1: length}}

    def inputs(length):
        return torch.randn(2, 3, length, 14), torch.arange(length) + torch.tensor([[1857], [0]])

    program = torch.export.export(model, inputs(5), dynamic_shapes=shapes)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    for other in (5, 13):
        given = inputs(other)
        torch.testing.assert_close(program.module()(*given), model(*given))
        torch.testing.assert_close(compiled(*given), model(*given))
