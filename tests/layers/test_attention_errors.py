"""Bad input: a clear error that says which argument, what it was and what was expected."""

import math
import re

import pytest
import torch

from mirada import Mask, attention, attention_weights


def tensors(query=(2, 4, 5, 7), key=(2, 4, 3, 7), value=(2, 4, 3, 11)):
    return torch.randn(query), torch.randn(key), torch.randn(value)


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        # pytorch#64888: keys of batch 1 are not spread over a batch of 4 in silence.
        (
            {"query": (4, 4, 5, 7), "key": (1, 4, 3, 7), "value": (1, 4, 3, 11)},
            ["key", "(1, 4, 3, 7)", "(4, 4, 5, 7)"],
        ),
        ({"key": (2, 4, 3, 8)}, ["key", "(2, 4, 3, 8)", "(2, 4, 3, 7)"]),
        ({"key": (2, 3, 3, 7), "value": (2, 3, 3, 11)}, ["key", "(2, 3, 3, 7)", "divisor"]),
        ({"key": (2, 8, 3, 7), "value": (2, 8, 3, 11)}, ["key", "(2, 8, 3, 7)", "(2, 4, 3, 7)"]),
        ({"key": (2, 0, 3, 7), "value": (2, 0, 3, 11)}, ["key", "(2, 0, 3, 7)"]),
        ({"key": (4, 3, 7), "value": (4, 3, 11)}, ["key", "(4, 3, 7)", "4 dimensions"]),
        ({"query": (7,)}, ["query", "(7,)"]),
        ({"query": (2, 4, 5, 0), "key": (2, 4, 3, 0)}, ["query", "(2, 4, 5, 0)"]),
    ],
)
def test_shapes_that_do_not_fit(changed, names):
    q, k, v = tensors(**changed)
    for call in (lambda: attention(q, k, v), lambda: attention_weights(q, k)):
        with pytest.raises(ValueError, match=re.escape(names[0])) as error:
            call()
        for name in names:
            assert name in str(error.value)


@pytest.mark.parametrize("value", [(2, 4, 5, 11), (2, 2, 3, 11), (1, 4, 3, 11), (2, 4, 11)])
def test_values_that_do_not_fit_their_keys(value):
    with pytest.raises(ValueError, match=r"value has shape") as error:
        attention(*tensors(value=value))
    assert str(tuple(value)) in str(error.value)


def test_heads_may_be_grouped_only_with_four_dimensions():
    """In three, the first dimension is a batch: two samples are no group of heads."""
    with pytest.raises(ValueError, match=r"key has shape \(2, 3, 7\).*\(4, 3, 7\)"):
        attention(*tensors((4, 5, 7), (2, 3, 7), (2, 3, 11)))


@pytest.mark.parametrize("temperature", [0, 0.0, -1.0, math.nan, math.inf, -math.inf])
def test_temperatures_that_are_none(temperature):
    q, k, v = tensors()
    for call in (
        lambda: attention(q, k, v, temperature=temperature),
        lambda: attention_weights(q, k, temperature=temperature),
    ):
        with pytest.raises(ValueError, match=rf"temperature is {temperature}; expected a positive"):
            call()


@pytest.mark.parametrize("dropout", [-0.1, 1.1, math.nan])
def test_shares_of_dropout_that_are_none(dropout):
    with pytest.raises(ValueError, match=f"dropout is {dropout}"):
        attention(*tensors(), dropout=dropout)


def test_numbers_that_are_not_floating_point():
    q, k, v = tensors()
    with pytest.raises(TypeError, match=r"key has dtype torch.int64.*key\.float\(\)"):
        attention(q, k.long(), v)


@pytest.mark.parametrize(
    ("mask", "name"),
    [
        (torch.ones(5, 3, dtype=torch.bool), r"Mask\.allowed.*Mask\.blocked"),
        (torch.ones(5, 3, dtype=torch.uint8), r"Mask\.allowed.*Mask\.blocked"),
        (torch.zeros(5, 3), r"Mask\.bias"),
        ("causal", r"a str; expected a mirada\.Mask"),
        (True, r"a bool"),
    ],
)
def test_a_bare_tensor_is_no_mask(mask, name):
    q, k, v = tensors()
    for call in (
        lambda: attention(q, k, v, mask),
        lambda: attention_weights(q, k, mask),
        lambda: Mask.causal() & mask,
    ):
        with pytest.raises(TypeError, match=name):
            call()


@pytest.mark.parametrize(
    ("constructor", "table", "name"),
    [
        (Mask.allowed, torch.ones(3), r"Mask\.allowed takes a boolean tensor.*float32.*Mask\.bias"),
        (Mask.blocked, torch.ones(3, dtype=torch.long), r"Mask\.blocked takes a boolean tensor.*int64"),
        (Mask.blocked, [True, False], r"a list"),
        (Mask.bias, torch.ones(3, dtype=torch.bool), r"Mask\.bias.*bool.*Mask\.allowed.*Mask\.blocked"),
        (Mask.bias, torch.ones(3, dtype=torch.long), r"Mask\.bias takes a floating-point"),
        (Mask.bias, 0.5, r"a float"),
        (Mask.padding, torch.tensor([1.0, 2.0]), r"lengths has dtype torch.float32"),
        (Mask.padding, torch.tensor([True, False]), r"lengths has dtype torch.bool"),
    ],
)
def test_tables_of_the_wrong_kind(constructor, table, name):
    with pytest.raises(TypeError, match=name):
        constructor(table)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Mask.bias(torch.tensor([0.0, math.nan])), r"Mask\.bias holds NaN or \+inf"),
        (lambda: Mask.bias(torch.tensor([math.inf])), r"Mask\.bias holds NaN or \+inf"),
        (lambda: Mask.padding([3, -1]), r"lengths holds -1"),
        (lambda: Mask.padding(torch.ones(2, 5, dtype=torch.long)), r"lengths has shape \(2, 5\)"),
        (lambda: Mask.padding([3], side="top"), r"side is 'top'"),
        (lambda: Mask.window(0), r"window is 0"),
        (lambda: Mask.window(-3), r"window is -3"),
        (lambda: Mask.window(2.5), r"window is 2\.5"),
        (lambda: Mask.window(True), r"window is True"),
        (lambda: Mask.causal().to_tensor(5), r"at least two sizes"),
    ],
)
def test_masks_that_mean_nothing(make, name):
    with pytest.raises(ValueError, match=name):
        make()


@pytest.mark.parametrize(
    ("mask", "names"),
    [
        (Mask.allowed(torch.ones(3, 5, dtype=torch.bool)), ["Mask.allowed", "(3, 5)", "(2, 4, 5, 3)"]),
        (Mask.blocked(torch.ones(4, dtype=torch.bool)), ["Mask.blocked", "(4,)", "(2, 4, 5, 3)"]),
        (Mask.bias(torch.zeros(3, 1, 1, 1)), ["Mask.bias", "(3, 1, 1, 1)", "(2, 4, 5, 3)"]),
        (Mask.bias(torch.zeros(1, 2, 4, 5, 3)), ["Mask.bias", "(1, 2, 4, 5, 3)"]),
        (Mask.causal() & Mask.bias(torch.zeros(2, 1, 3)), ["Mask.bias", "(2, 1, 3)"]),
        (Mask.padding([1, 2, 3]), ["Mask.padding", "3 lengths", "(2, 4, 5, 3)"]),
        (Mask.padding([2]), ["Mask.padding", "1 lengths", "(2, 4, 5, 3)"]),
        (Mask.padding([4, 1]), ["Mask.padding", "length of 4", "(2, 4, 5, 3)"]),
    ],
    ids=repr,
)
def test_masks_of_another_shape(mask, names):
    q, k, v = tensors()
    for call in (
        lambda: attention(q, k, v, mask),
        lambda: attention_weights(q, k, mask),
        lambda: mask.to_tensor(2, 4, 5, 3),
    ):
        with pytest.raises(ValueError, match=re.escape(names[0])) as error:
            call()
        for name in names:
            assert name in str(error.value)


def test_padding_needs_a_batch():
    with pytest.raises(ValueError, match=r"Mask\.padding"):
        attention_weights(torch.randn(2, 7), torch.randn(3, 7), Mask.padding([1, 2]))


def test_a_mask_that_went_to_a_device_still_knows_its_lengths():
    q, k, v = tensors()
    with pytest.raises(ValueError, match="length of 4"):
        attention(q, k, v, Mask.padding([4, 1]).to("cpu"))
