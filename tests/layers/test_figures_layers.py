"""The lesson's figures on heads, positions, norm and block: each comes out as it is printed there."""

import pytest
import torch
from torch import nn

from mirada import MultiHeadAttention, TransformerBlock, from_torch, sinusoidal_positions, to_torch


def printed(tensor, decimals=2):
    return [[round(number, decimals) for number in row] for row in tensor.tolist()]


def count(layer):
    return sum(parameter.numel() for parameter in layer.parameters())


def test_several_heads_keep_the_shape_and_show_a_table_each():
    layer = MultiHeadAttention(16, 4)
    x = torch.randn(2, 5, 16)
    assert layer(x).shape == (2, 5, 16)
    assert layer.weights(x).shape == (2, 4, 5, 5)


def test_several_heads_equal_pytorchs_with_the_same_parameters():
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    x = torch.randn(2, 5, 16)
    expected, expected_weights = theirs(x, x, x, average_attn_weights=False)
    layer = from_torch(theirs)
    torch.testing.assert_close(layer(x), expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(layer.weights(x), expected_weights, rtol=0, atol=1e-6)
    assert count(layer) == count(theirs)


def test_several_heads_cost_as_many_parameters_as_one_wide_head():
    assert count(MultiHeadAttention(16, 4)) == count(MultiHeadAttention(16, 1)) == 4 * (16 * 16 + 16)


def test_the_first_sinusoidal_positions():
    table = sinusoidal_positions(50, 32)
    assert table.shape == (50, 32)
    assert printed(table[:3, :4]) == [[0, 1, 0, 1], [0.84, 0.54, 0.53, 0.85], [0.91, -0.42, 0.9, 0.43]]


@pytest.mark.parametrize("length", [50, 1009])
def test_no_two_positions_share_a_vector(length):
    table = sinusoidal_positions(length, 32)
    assert len(torch.unique(table, dim=0)) == length
    apart = torch.cdist(table.double(), table.double()).fill_diagonal_(torch.inf)
    assert apart.min() > 0.5  # and not by a hair either


def test_layer_norm_of_one_to_four():
    norm = TransformerBlock(4, 2, 8).norm1
    assert printed(norm(torch.tensor([[1.0, 2, 3, 4]]))) == [[-1.34, -0.45, 0.45, 1.34]]


def test_the_parameters_of_the_block_by_hand():
    block = TransformerBlock(64, 4, 256)
    assert count(block) == 49_984
    assert count(block.attention) == 16_640 == 4 * (64 * 64 + 64)
    assert count(block.mlp) == 33_088 == 64 * 256 + 256 + 256 * 64 + 64
    assert count(block.norm1) + count(block.norm2) == 256 == 2 * 2 * 64
    assert count(to_torch(block)) == 49_984


def test_the_block_equals_pytorchs_encoder_layer():
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(
        64, 4, dim_feedforward=256, dropout=0, batch_first=True, norm_first=True
    )
    assert count(theirs) == 49_984
    block = from_torch(theirs)
    assert count(block) == 49_984
    x = torch.randn(2, 11, 64)
    assert block(x).shape == x.shape
    torch.testing.assert_close(block(x), theirs(x), rtol=0, atol=1e-6)


# pytorch#86274, annotated-transformer#9: a stack made by copying one layer starts with equal layers.
def test_each_block_starts_with_values_of_its_own():
    blocks = nn.ModuleList(TransformerBlock(6, 2, 7) for _ in range(5))
    for first in range(5):
        for second in range(first):
            for name, parameter in blocks[first].named_parameters():
                if "proj" in name:
                    assert not torch.equal(parameter, blocks[second].get_parameter(name)), name
