"""What a proof is worth where masks are written as low numbers, and what rows that are all low say."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from watched import Calls, close, seen

from mirada.layers.masks import Mask
from mirada.watching.inputs import Inputs
from reference import reference_weights, table

R = torch.randn


def sdpa(mask: torch.Tensor) -> nn.Module:
    return Calls(lambda self, q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


@pytest.mark.parametrize("low", [-1e4, -1e9, -1e30])
def test_low_numbers_excuse_no_difference(low):
    q, k, v = R(2, 3, 5, 7), R(2, 3, 11, 7), R(2, 3, 11, 7)
    mask = torch.zeros(2, 1, 5, 11)
    mask[..., 8:] = low
    mask[1, :, 3] = low  # a row in which all is masked so: there any difference is rounding's
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    call = Inputs(q, k, v, Mask.bias(mask), 7**-0.5, "").call(training=False)
    weights = (q @ k.mT * 7**-0.5 + mask).softmax(-1)
    assert call.proved_by(v, output).proved
    assert call.proved_by_weights(weights).proved
    wrong = output.clone()
    wrong[0, 1, 4, 2] += 1e-3
    assert call.proved_by(v, wrong).proved is False
    assert call.proved_by(v, wrong.masked_fill(wrong == wrong[0, 0, 0, 0], math.nan)).proved is False
    weights[0, 1, 4, 2] += 1e-3
    assert call.proved_by_weights(weights).proved is False


# Kernels add the mask to the scores in float32, which have no digits left beside a number so low.
LOWEST = torch.finfo(torch.float32).min
ROWS = {
    "the best is looked at": ([LOWEST] * 5 + [LOWEST * 0.6] + [LOWEST * 0.8] * 5, 5),
    "by one step": ([LOWEST] * 3 + [math.nextafter(LOWEST, 0) * (1 - 1e-7)] + [LOWEST] * 7, 3),
    "beside -inf": ([-math.inf] * 3 + [LOWEST * 0.7] + [LOWEST] * 7, 3),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_row_of_low_numbers_that_differ_looks_at_the_best_of_them(case):
    values, best = ROWS[case]
    q, k, v = R(2, 3, 5, 7), R(2, 3, 11, 7), R(2, 3, 11, 7)
    mask = torch.zeros(5, 11)
    mask[:, 0] = LOWEST
    mask[1] = torch.tensor(values)
    gaze = seen(sdpa(mask), q, k, v)
    assert gaze.proved
    found = gaze[0].weights()
    wanted = F.one_hot(torch.tensor(best), 11).float()
    assert torch.equal(found[:, :, 1], wanted.expand(2, 3, -1))
    others = [0, 2, 3, 4]
    close(
        found[:, :, others],
        reference_weights(q, k, table(mask.masked_fill(mask == LOWEST, -math.inf)))[:, :, others],
    )
    assert torch.equal(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[:, :, 1], v[:, :, best])


@pytest.mark.parametrize("values", [[LOWEST] * 11, [LOWEST] + [-math.inf] * 10, [-math.inf] * 11])
def test_a_row_of_one_low_number_may_look_at_nobody(values):
    mask = torch.zeros(5, 11)
    mask[1] = torch.tensor(values)
    gaze = seen(sdpa(mask), R(2, 3, 5, 7), R(2, 3, 11, 7), R(2, 3, 11, 7))
    assert gaze[0].row_sums()[0, 0].tolist() == pytest.approx([1, 0, 1, 1, 1])


def test_two_that_are_equally_low_are_not_called_proved():
    mask = torch.zeros(5, 11)
    mask[1] = torch.tensor([LOWEST * 0.6] * 2 + [LOWEST] * 9)  # the kernel gives each half, whatever q·k is
    gaze = seen(sdpa(mask), R(2, 3, 5, 7), R(2, 3, 11, 7), R(2, 3, 11, 7))
    assert gaze.proved is False
