"""The last step of the formula: rows of scores of any size."""

import math

import torch

from mirada.watching.head import Head, weigh


def test_scores_far_from_zero_lose_nothing():
    scores = torch.randn(3, 7)
    for far in (-1e4, 1e4):
        moved = (scores.double() + far).float()
        wanted = moved.double().softmax(-1)
        torch.testing.assert_close(weigh(moved, None).double(), wanted, rtol=0, atol=2e-7)


def test_a_row_of_the_lowest_numbers_there_are_is_even():
    row = torch.full((1, 5), torch.finfo(torch.float32).min)
    assert torch.equal(weigh(row, None), torch.full((1, 5), 0.2))


def test_masked_is_exactly_zero_and_so_is_a_row_that_may_look_at_nobody():
    scores = torch.tensor([[0.0, -math.inf, 1.0], [-math.inf] * 3])
    weights = weigh(scores, None)
    assert weights[0, 1] == 0
    assert weights[1].tolist() == [0, 0, 0]
    assert weigh(scores, torch.tensor(2.0))[1].tolist() == [0, 0, 0]


def test_a_sink_takes_its_share():
    scores, sink = torch.randn(2, 3, 5, 7), torch.randn(3, 1, 1)
    whole = torch.cat([scores, sink.expand(2, 3, 5, 1)], -1).softmax(-1)
    torch.testing.assert_close(weigh(scores, sink), whole[..., :-1])
    head = Head(torch.randn(5, 3), torch.randn(7, 3), 0.5, sink=1e4)
    assert head.weights(slice(0, 5)).sum() == 0  # all of it


def test_no_keys():
    assert weigh(torch.zeros(2, 0), None).shape == (2, 0)
