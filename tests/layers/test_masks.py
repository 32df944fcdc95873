"""What each mask means, cell by cell; how masks combine, print, travel and refuse what does not fit."""

import copy
import dataclasses
import math
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import _pytree as pytree

import reference
from mirada import Mask, attention, attention_weights
from strategies import masks

SHAPES = st.sampled_from([(5, 7), (7, 5), (1, 7), (3, 5, 5), (2, 3, 5, 7), (2, 3, 7, 3), (2, 1, 3, 5, 7)])


def picture(mask, *shape):
    """A table as lines of text: # may look, . may not."""
    return ["".join(".#"[int(cell)] for cell in row) for row in mask.to_tensor(*shape)]


def test_causal():
    assert picture(Mask.causal(), 3, 3) == ["#..", "##.", "###"]
    assert picture(Mask.causal(), 2, 5) == ["####.", "#####"]  # the queries are the last ones
    assert picture(Mask.causal(), 5, 2) == ["..", "..", "..", "#.", "##"]  # the first look at nobody


def test_window():
    assert picture(Mask.window(1), 3, 3) == ["#..", ".#.", "..#"]
    assert picture(Mask.window(2), 4, 4) == ["##..", "###.", ".###", "..##"]
    assert picture(Mask.window(2), 2, 5) == ["..###", "...##"]  # aligned like causal
    assert picture(Mask.window(2), 5, 2) == ["..", "..", "#.", "##", "##"]
    assert picture(Mask.causal() & Mask.window(2), 4, 4) == ["#...", "##..", ".##.", "..##"]  # Mistral's


def test_padding():
    mask = Mask.padding([2, 0, 5])
    assert mask.to_tensor(3, 1, 5).int().tolist() == [[[1, 1, 0, 0, 0]], [[0] * 5], [[1] * 5]]
    left = Mask.padding([2, 0, 5], side="left")
    assert left.to_tensor(3, 1, 5).int().tolist() == [[[0, 0, 0, 1, 1]], [[0] * 5], [[1] * 5]]


@pytest.mark.parametrize("lead", [(2,), (2, 3), (2, 3, 5), (2, 2, 2, 2)])
def test_padding_belongs_to_the_first_dimension(lead):
    table = Mask.padding([1, 3]).to_tensor(*lead, 2, 3)
    assert (table[0] == torch.tensor([True, False, False])).all()
    assert table[1].all()


def test_tables_keep_their_polarity():
    table = torch.tensor([[True, False], [False, False]])
    assert torch.equal(Mask.allowed(table).to_tensor(2, 2), table)
    assert torch.equal(Mask.blocked(table).to_tensor(2, 2), ~table)
    assert torch.equal(Mask.allowed(table[0]).to_tensor(3, 2), table[0].expand(3, 2))


def test_biases_add_and_only_infinity_blocks():
    bias = torch.tensor([[1.0, -1e8], [-math.inf, 2.0]])
    both = Mask.bias(bias) & Mask.bias(bias) & Mask.causal()
    assert both.to_tensor(2, 2).tolist() == [[2.0, -math.inf], [-math.inf, 4.0]]
    assert Mask.bias(bias).to_tensor(2, 2).tolist() == bias.tolist()
    half = Mask.bias(torch.tensor([60000.0]).half())
    assert (half & half).to_tensor(1, 1).item() == 120_000  # added in float32: no overflow


@given(SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), masks(shape))))
def test_the_table_is_that_of_the_rule(drawn):
    shape, (mask, rule) = drawn
    table = (Mask() if mask is None else mask).to_tensor(*shape)
    assert table.shape == shape
    added = table if table.is_floating_point() else torch.where(table, 0.0, -math.inf)
    for at in torch.cartesian_prod(*map(torch.arange, shape)).tolist():
        assert added[tuple(at)].item() == pytest.approx(rule(tuple(at), shape), abs=1e-6)


@given(SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), masks(shape))), st.data())
def test_a_piece_is_cut_from_the_whole_and_nothing_outside_its_columns_is_lost(drawn, data):
    shape, (mask, _) = drawn
    mask = Mask() if mask is None else mask
    start = data.draw(st.integers(0, shape[-2] - 1))
    rows = slice(start, data.draw(st.integers(start + 1, shape[-2])))
    columns = mask.columns(shape, rows)
    whole = mask.to_tensor(*shape)
    piece = mask.table(shape, rows, columns, torch.device("cpu"))
    cut = whole[..., rows, columns]
    assert torch.equal(piece.expand(cut.shape), cut)
    blocked = ~whole if whole.dtype == torch.bool else whole == -math.inf
    outside = torch.ones(shape[-1], dtype=torch.bool)
    outside[columns] = False
    assert blocked[..., rows, :][..., outside].all()


def test_columns_are_no_more_than_a_row_of_the_block_can_see():
    """What makes a window quick: the keys that nobody in the block can see are not even read."""
    scores = (100, 100)
    assert Mask.causal().columns(scores, slice(10, 20)) == slice(0, 20)
    assert Mask.window(3).columns(scores, slice(10, 20)) == slice(8, 22)
    assert (Mask.causal() & Mask.window(3)).columns(scores, slice(10, 20)) == slice(8, 20)
    assert Mask.causal().columns((10, 100), slice(0, 5)) == slice(0, 95)
    assert Mask.padding([3, 40]).columns((2, 100, 100), slice(10, 20)) == slice(0, 40)
    assert Mask.padding([3, 40], side="left").columns((2, 100, 100), slice(10, 20)) == slice(60, 100)
    assert (Mask.causal() & Mask.padding([40])).columns((1, 100, 100), slice(10, 20)) == slice(0, 20)
    blocked = Mask.blocked(torch.ones(100, 100, dtype=torch.bool))
    assert blocked.columns((100, 100), slice(10, 20)) == slice(0, 100)


@given(SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), masks(shape))))
def test_where_nobody_is_alone_every_row_has_somebody(drawn):
    shape, (mask, _) = drawn
    mask = Mask() if mask is None else mask
    table = mask.to_tensor(*shape)
    somebody = (table if table.dtype == torch.bool else table > -math.inf).any(-1)
    assert somebody.all() or not mask.nobody_is_alone(shape)


@pytest.mark.parametrize(
    ("mask", "shape", "known"),
    [
        (Mask.causal(), (5, 7), True),
        (Mask.causal(), (7, 5), False),
        (Mask.causal(first=0), (7, 5), True),
        (Mask.causal(first=0) & Mask.window(1), (5, 7), False),
        (Mask.causal() & Mask.window(1), (5, 7), True),
        (Mask.causal() & Mask.padding([1, 5]), (2, 5, 5), True),
        (Mask.causal() & Mask.padding([0, 5]), (2, 5, 5), False),
        (Mask.causal() & Mask.padding([1, 5], side="left"), (2, 5, 5), False),
        (Mask.window(2) & Mask.padding([1, 5]), (2, 5, 5), False),
        (Mask.bias(torch.zeros(5)), (5, 5), False),
    ],
    ids=repr,
)
def test_what_is_known_without_reading_a_tensor(mask, shape, known):
    assert mask.nobody_is_alone(shape) is known


def test_lengths_changed_after_a_mask_was_made_of_them_do_not_change_it():
    lengths = torch.tensor([2, 3])
    mask = Mask.padding(lengths)
    lengths += 2
    assert mask.to_tensor(2, 1, 1, 5).sum(-1).flatten().tolist() == [2, 3]


def test_a_first_query_that_stands_elsewhere():
    assert Mask.causal(first=1).to_tensor(2, 4).tolist() == [
        [True, True, False, False],
        [True, True, True, False],
    ]
    assert Mask.causal(first=1).columns((2, 9), slice(0, 2)) == slice(0, 3)
    assert not Mask.causal(
        first=0
    ).is_causal  # it is, where lengths are equal: that is not the mask's to know
    assert repr(Mask.causal(first=1)) == "Mask.causal(first=1)"
    for bad in (-1, 1.5, True):
        with pytest.raises(ValueError, match="place of the first query"):
            Mask.causal(first=bad)


def test_repr_reads_like_the_code_that_made_it():
    mask = Mask.causal() & Mask.window(4096)
    assert repr(mask) == "Mask.causal() & Mask.window(4096)"
    assert repr(Mask.padding([3, 0], side="left")) == "Mask.padding([3, 0], side='left')"
    assert repr(Mask.padding(range(100))) == "Mask.padding(<100>)"
    assert repr(Mask.blocked(torch.ones(2, 1, 5, 7, dtype=torch.bool))) == "Mask.blocked(<2 × 1 × 5 × 7>)"
    assert repr(Mask.bias(torch.zeros(5, 7)) & Mask.causal()) == "Mask.bias(<5 × 7>) & Mask.causal()"


def test_a_mask_does_not_change():
    mask = Mask.causal()
    combined = mask & Mask.window(3)
    assert repr(mask) == "Mask.causal()"
    assert repr(combined) == "Mask.causal() & Mask.window(3)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        mask.parts = ()  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        combined.parts[1].size = 5


def everything() -> Mask:
    return (
        Mask.causal()
        & Mask.window(3)
        & Mask.padding([3, 5], side="left")
        & Mask.allowed(torch.rand(2, 1, 1, 5) < 0.9)
        & Mask.blocked(torch.rand(5, 5) < 0.1)
        & Mask.bias(torch.randn(3, 5, 5))
    )


@pytest.mark.parametrize(
    "carry",
    [
        lambda mask: pytree.tree_map(torch.clone, mask),
        lambda mask: pytree.tree_unflatten(*pytree.tree_flatten(mask)),
        lambda mask: pickle.loads(pickle.dumps(mask)),
        copy.deepcopy,
        lambda mask: mask.to("cpu"),
    ],
    ids=["tree_map", "flatten", "pickle", "deepcopy", "to"],
)
def test_a_mask_travels_whole(carry):
    mask = everything()
    carried = carry(mask)
    assert repr(carried) == repr(mask)
    assert torch.equal(carried.to_tensor(2, 3, 5, 5), mask.to_tensor(2, 3, 5, 5))


def test_a_mask_goes_to_a_device():
    moved = everything().to("meta")
    assert {part.tensor.device.type for part in moved.parts if part.tensor is not None} == {"meta"}
    q = torch.randn(2, 3, 5, 7, device="meta")
    assert attention(q, q, q, moved).shape == q.shape
    assert attention_weights(q, q, moved).shape == (2, 3, 5, 5)


def test_a_causal_mask_over_a_hundred_thousand_tokens_is_only_a_description():
    mask = Mask.causal() & Mask.window(4096)
    assert [part.tensor for part in mask.parts] == [None, None]
    assert mask.columns((100_000, 100_000), slice(50_000, 50_256)) == slice(50_000 - 4095, 50_256)


def test_the_rules_of_the_tests_know_their_polarity():
    """The reference itself, once by hand."""
    shape = (2, 3)
    assert reference.table(torch.tensor([True, False, True]), blocked=False)((0, 1), shape) == -math.inf
    assert reference.causal()((0, 2), shape) == -math.inf
    assert reference.causal()((0, 1), shape) == 0
