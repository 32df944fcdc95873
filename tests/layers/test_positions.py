"""Learned and sinusoidal positions, against the formula worked out number by number."""

import math

import pytest
import torch
from torch import nn

from mirada import LearnedPositions, SinusoidalPositions, sinusoidal_positions

HALVES = [torch.bfloat16, torch.float16]


def by_formula(positions, d_model):
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i + 1) = cos(the same), one number after another."""
    rows = []
    for position in positions:
        angles = [position / 10000 ** ((column - column % 2) / d_model) for column in range(d_model)]
        rows.append([math.cos(a) if column % 2 else math.sin(a) for column, a in enumerate(angles)])
    return torch.tensor(rows, dtype=torch.float64)


def both(length, d_model, dtype=torch.float64):
    return [LearnedPositions(length, d_model, dtype=dtype), SinusoidalPositions(d_model)]


# BERT-pytorch#78, pyaptamer#526: an odd d_model ends with a sine.
@pytest.mark.parametrize("d_model", [1, 2, 5, 14, 31])
def test_sinusoids_equal_the_formula(d_model):
    table = sinusoidal_positions(101, d_model, dtype=torch.float64)
    torch.testing.assert_close(table, by_formula(range(101), d_model), rtol=0, atol=1e-12)


# SamLynnEvans/Transformer#25: sine and cosine of a pair share one angle.
@pytest.mark.parametrize("d_model", [2, 32, 62])
def test_each_pair_of_sinusoids_lies_on_the_unit_circle(d_model):
    table = sinusoidal_positions(997, d_model, dtype=torch.float64)
    torch.testing.assert_close(
        table[:, 0::2] ** 2 + table[:, 1::2] ** 2,
        torch.ones(997, d_model // 2, dtype=torch.float64),
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32])
def test_sinusoids_are_rounded_once(dtype):
    exact = by_formula(range(2003), 10)
    assert torch.equal(sinusoidal_positions(2003, 10, dtype=dtype), exact.to(dtype))


def test_sinusoids_come_in_the_default_dtype_or_the_one_asked_for():
    assert sinusoidal_positions(3, 5).dtype == torch.get_default_dtype()
    assert sinusoidal_positions(3, 5, dtype=torch.float16).dtype == torch.float16
    assert sinusoidal_positions(3, 5, device="meta").device.type == "meta"
    assert sinusoidal_positions(0, 5).shape == (0, 5)


@pytest.mark.parametrize(("length", "d_model"), [(-1, 5), (3, 0)])
def test_sinusoids_of_impossible_sizes_are_refused(length, d_model):
    with pytest.raises(ValueError, match=f"got {length} and {d_model}"):
        sinusoidal_positions(length, d_model)


# C.Origami#42, hello-agents#61: a batch is not a sentence.
@pytest.mark.parametrize(("batch", "length"), [(3, 5), (5, 3), (5, 5), (1, 7)])
@pytest.mark.parametrize("index", [0, 1])
def test_positions_run_along_the_length_and_not_the_batch(batch, length, index):
    layer = both(11, 7)[index]
    table = [layer.weight.detach() if index == 0 else None, by_formula(range(11), 7)][index]
    x = torch.randn(batch, length, 7, dtype=torch.float64)
    out = layer(x)
    assert out.shape == x.shape
    for sample in range(batch):
        torch.testing.assert_close(out[sample], x[sample] + table[:length], rtol=0, atol=1e-14)


@pytest.mark.parametrize("index", [0, 1])
def test_each_sample_may_have_positions_of_its_own(index):
    layer = both(11, 7)[index]
    x = torch.randn(2, 3, 7, dtype=torch.float64)
    left_padded = torch.tensor([[0, 0, 1], [4, 10, 2]])
    out = layer(x, left_padded)
    for sample in range(2):
        for place in range(3):
            alone = layer(x.new_zeros(1, 7), left_padded[sample, place : place + 1])[0]
            torch.testing.assert_close(out[sample, place], x[sample, place] + alone, rtol=0, atol=1e-14)


@pytest.mark.parametrize("index", [0, 1])
def test_positions_count_from_zero_unless_given(index):
    layer = both(11, 7)[index]
    x = torch.randn(2, 5, 7, dtype=torch.float64)
    counted = torch.arange(5, dtype=torch.int32)
    assert torch.equal(layer(x), layer(x, counted))
    assert torch.equal(layer(x), layer(x, counted.expand(2, 5)))
    assert layer(x[:, :0]).shape == (2, 0, 7)
    assert layer(x[:0]).shape == (0, 5, 7)


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("dtype", HALVES)
def test_the_result_is_in_the_dtype_of_x(index, dtype):
    layer = both(11, 7, torch.float32)[index]
    assert layer(torch.zeros(2, 5, 7, dtype=dtype)).dtype == dtype
    assert layer(torch.zeros(2, 5, 7, dtype=dtype), torch.arange(5)).dtype == dtype


@pytest.mark.parametrize("dtype", HALVES)
def test_sinusoidal_positions_stay_exact_in_half_precision(dtype):
    far = torch.tensor([1857, 15962])
    out = SinusoidalPositions(10)(torch.zeros(1, 2, 10, dtype=dtype), far)
    assert torch.equal(out[0], by_formula(far.tolist(), 10).to(dtype))


def test_the_learned_table_is_an_embedding_and_starts_like_one():
    torch.manual_seed(0)
    table = LearnedPositions(11, 7)
    torch.manual_seed(0)
    assert torch.equal(table.weight, nn.Embedding(11, 7).weight)
    assert isinstance(table, nn.Embedding)
    assert list(table.state_dict()) == ["weight"]
    assert table.weight.requires_grad
    other = LearnedPositions(11, 7, device="meta", dtype=torch.float16)
    assert (other.weight.device.type, other.weight.dtype) == ("meta", torch.float16)
    assert not list(SinusoidalPositions(7).parameters())


def test_only_the_positions_that_were_used_learn():
    table = LearnedPositions(11, 7)
    table(torch.zeros(3, 5, 7)).sum().backward()
    expected = torch.zeros(11, 7)
    expected[:5] = 3
    assert torch.equal(table.weight.grad, expected)
    table.weight.grad = None
    table(torch.zeros(2, 2, 7), torch.tensor([[3, 8], [8, 9]])).sum().backward()
    expected = torch.zeros(11, 7)
    expected[3], expected[8], expected[9] = 1, 2, 1
    assert torch.equal(table.weight.grad, expected)


def test_a_sentence_longer_than_the_table_is_refused_with_both_lengths_and_a_way_out():
    table = LearnedPositions(11, 7)
    with pytest.raises(ValueError, match=r"x has length 13.*holds 11 positions: shorten x.*\(13, 7\)"):
        table(torch.zeros(2, 13, 7))
    for positions in ([3, 12], [-1, 0]):
        with pytest.raises(ValueError, match=rf"from {positions[0]} to {positions[1]}.*holds 0 to 10"):
            table(torch.zeros(2, 2, 7), torch.tensor(positions))


@pytest.mark.parametrize("index", [0, 1])
def test_what_does_not_fit_is_refused_with_its_shape(index):
    layer = both(11, 7)[index]
    x = torch.zeros(2, 5, 7, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"x of shape \(\.\.\., length, 7\), got \(2, 5, 3\)"):
        layer(x[..., :3])
    with pytest.raises(ValueError, match=r"got \(7,\)"):
        layer(x[0, 0])
    for shape in [(3,), (1, 5), (3, 5), (2, 3), (1, 2, 5), ()]:
        with pytest.raises(ValueError, match=r"positions of shape \(5,\) or \(2, 5\), got"):
            layer(x, torch.zeros(shape, dtype=torch.int64))
    for dtype in (torch.float32, torch.bfloat16, torch.bool, torch.complex64):
        with pytest.raises(TypeError, match=rf"whole numbers.*got {dtype}"):
            layer(x, torch.zeros(5, dtype=dtype))
    with pytest.raises(ValueError, match="d_model >= 1"):
        both(11, 0)
    with pytest.raises(ValueError, match="length >= 1"):
        LearnedPositions(0, 7)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.learned, self.sinusoidal = LearnedPositions(101, 7), SinusoidalPositions(7)

    def forward(self, x, positions):
        return self.learned(self.sinusoidal(x)) + self.sinusoidal(self.learned(x, positions), positions)


def left_padded(length):
    return torch.arange(length) + torch.tensor([[3], [0], [17]])


def test_both_compile_without_a_break():
    model = Both()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    for length in (5, 13):
        x = torch.randn(3, length, 7)
        torch.testing.assert_close(compiled(x, left_padded(length)), model(x, left_padded(length)))


def test_both_export_with_a_length_that_varies():
    model = Both()
    length = torch.export.Dim("length", min=2, max=83)
    shapes = {"x": {1: length}, "positions": {1: length}}
    program = torch.export.export(model, (torch.randn(3, 5, 7), left_padded(5)), dynamic_shapes=shapes)
    for other in (5, 13):
        x = torch.randn(3, other, 7)
        torch.testing.assert_close(program.module()(x, left_padded(other)), model(x, left_padded(other)))
