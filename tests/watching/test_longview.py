"""The summaries of rows against the full table, where there can be one."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from long_tables import Table, compare, near

import strategies
from mirada import Mask
from mirada.watching import largest, longview
from mirada.watching.head import Head
from mirada.watching.longview import RowSummary, summarise

ROWS, KEYS, D = 211, 2039, 17

MASKS = {
    "none": lambda r, n: None,
    "causal": lambda r, n: Mask.causal(),
    "causal, first 3": lambda r, n: Mask.causal(first=3),
    "window": lambda r, n: Mask.window(37),
    "causal window": lambda r, n: Mask.causal() & Mask.window(5),
    "padding right": lambda r, n: Mask.padding([n, n - n // 3]),
    "padding left": lambda r, n: Mask.padding([n, n - n // 3], side="left"),
    "all is padding": lambda r, n: Mask.padding([n, 0]),
    "allowed": lambda r, n: Mask.allowed(torch.rand(r, n) < 0.3),
    "blocked of each head": lambda r, n: Mask.blocked(torch.rand(2, 3, r, n) < 0.3),
    "few": lambda r, n: Mask.allowed(torch.rand(r, n) < 0.001),
    "bias": lambda r, n: Mask.bias(torch.randn(3, r, n).masked_fill(torch.rand(3, r, n) < 0.3, -math.inf)),
    "very negative": lambda r, n: Mask.bias(torch.where(torch.rand(r, n) < 0.999, -1e30, 0.0)),
    "lowest": lambda r, n: Mask.bias(torch.full((n,), torch.finfo(torch.float32).min)),
    "causal, padded, biased": lambda r, n: (
        Mask.causal() & Mask.padding([n, n - n // 3], side="left") & Mask.bias(torch.randn(n))
    ),
}


def made(rows: int = ROWS, keys: int = KEYS, d: int = D, mask: str = "none", **more) -> Head:
    """The last of two samples, the second of three heads. float64: the same scores as the table's."""
    more = {"scale": d**-0.5, "shape": (2, 3, rows, keys), "place": (1, 1), **more}
    query, key = torch.randn(rows, d).double(), torch.randn(keys, d).double()
    return Head(query, key, mask=MASKS[mask](rows, keys), **more)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("rows", "keys"), [(ROWS, KEYS), (1, KEYS), (149, 67), (1, 1)])
def test_equals_the_table(mask, rows, keys):
    compare(made(rows, keys, mask=mask))


@pytest.mark.parametrize("mask", ["causal", "window", "causal window", "padding left"])
def test_equals_a_square_table(mask):
    """Several blocks of rows, and several pieces of keys: before, at and after the places of the rows."""
    compare(made(2039, 2039, mask=mask))


@pytest.mark.parametrize("mask", ["causal", "causal window"])
def test_whole_blocks_of_rows_that_look_at_nobody(mask):
    compare(made(307, 67, mask=mask))


@pytest.mark.parametrize("stretch", [1, 3, 99])
@pytest.mark.parametrize("mask", ["none", "causal", "few"])
def test_equals_the_table_over_many_pieces(mask, stretch, monkeypatch):
    """And over stretches of pieces, whose largest are merged: of one piece, of some, of all."""
    monkeypatch.setattr(longview, "PIECE", 128)
    monkeypatch.setattr(longview, "ROWS", 13)
    monkeypatch.setattr(longview, "STRETCH", stretch * 13 * 128 * 8)
    compare(made(mask=mask, sink=0.7))
    compare(made(mask=mask), top=150)


@pytest.mark.parametrize("first", [0, 97, 5000, -11])
def test_distance_from_where_the_rows_stand(first):
    compare(made(mask="causal"), first=first)


@pytest.mark.parametrize(
    "more", [{"softcap": 1.5}, {"sink": 2.5}, {"sink": -3.0, "softcap": 4.0}, {"sink": 200.0}]
)
@pytest.mark.parametrize("mask", ["none", "causal", "few", "all is padding"])
def test_softcap_and_sink(mask, more):
    compare(made(mask=mask, **more))


@pytest.mark.parametrize("place", [(0, 0), (0, 2), (1, 1)])
def test_the_mask_of_its_own_sample_and_head(place):
    head = made(mask="blocked of each head", place=place)
    compare(head)
    others = [made(mask="blocked of each head", place=other) for other in ((0, 1), (1, 0))]
    assert all(
        not torch.equal(head.mask.parts[0].tensor[place], o.mask.parts[0].tensor[o.place]) for o in others
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mask", ["none", "causal", "bias", "very negative", "lowest"])
def test_in_other_dtypes(mask, dtype):
    head = made(mask=mask)
    compare(
        Head(head.query.to(dtype), head.key.to(dtype), head.scale, head.mask, head.shape, head.place),
        same_keys=False,
    )


@pytest.mark.parametrize("mask", ["none", "causal", "few", "bias"])
@pytest.mark.parametrize("scale", [1500.0, -1500.0])
def test_scores_of_ten_thousand(mask, scale):
    head = made(mask=mask, scale=scale)
    assert head.scores(slice(0, ROWS), slice(0, KEYS)).nan_to_num(neginf=0).abs().max() > 10_000
    compare(head)


def test_scores_beyond_what_exp_can_say():
    """All of them, far from 0: nothing overflows, and nothing is 0 of which there is more than nothing."""
    for far in (1e4, -1e4, 1e30, -1e30):
        summary = summarise(Head(torch.full((3, 1), far), torch.ones(7, 1), 1.0), 2)
        assert summary.top_keys.tolist() == [[0, 1]] * 3
        near(summary.top_weights, torch.full((3, 2), 1 / 7))
        near(summary.entropy, torch.full((3,), math.log(7)), atol=1e-5)
        near(summary.log_sum_exp, torch.full((3,), far + math.log(7)))


@pytest.mark.parametrize("mask", ["none", "causal", "few"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_of_equal_weights_the_lower_key_comes_first(mask, d):
    """Small integers: most scores of a row are equal to others, in the last bit, in every order of adding."""
    query, key = torch.randint(-1, 2, (ROWS, d)).float(), torch.randint(-1, 2, (KEYS, d)).float()
    head = Head(query, key, 1.0, MASKS[mask](ROWS, KEYS), (1, 1, ROWS, KEYS))
    for top in (1, 2, 16, 70):
        compare(head, top)


@pytest.mark.parametrize("stretch", [1, 3, 99])
def test_ties_across_pieces(stretch, monkeypatch):
    """The largest stand in the last places of their groups and pieces, and one more is equal to the last."""
    monkeypatch.setattr(longview, "PIECE", 128)
    monkeypatch.setattr(longview, "STRETCH", stretch * 128 * 4)
    key = torch.zeros(2039, 1)
    key[[127, 128, 300, 301, 1999, 2038]] = 1.0
    for top, wanted in ((3, [127, 128, 300]), (6, [127, 128, 300, 301, 1999, 2038])):
        assert summarise(Head(torch.ones(1, 1), key, 1.0), top).top_keys.tolist() == [wanted]
    assert summarise(Head(torch.ones(1, 1), key, 1.0), 8).top_keys.tolist() == [[*wanted, 0, 1]]


@pytest.mark.parametrize("top", [1, 2, 63, 64, 65, 67, 68, 500])
@pytest.mark.parametrize("mask", ["none", "causal", "few"])
def test_any_number_of_the_largest(mask, top):
    compare(made(31, 67, mask=mask), top)


def test_masked_is_not_tiny():
    """Key 0 is masked; key 1 may be seen, with a weight that is 0.0 in any float: it alone is named."""
    bias = torch.tensor([-math.inf, -1e30, 0.0])
    summary = summarise(Head(torch.zeros(1, 3), torch.ones(3, 3), 1.0, Mask.bias(bias)), 3)
    assert summary.top_keys.tolist() == [[2, 1, -1]]
    assert summary.top_weights.tolist() == [[1.0, 0.0, 0.0]]


def test_nobody_to_look_at():
    summary = summarise(made(7, 11, mask="all is padding"), 3)
    assert summary.top_keys.tolist() == [[-1] * 3] * 7
    for name in ("top_weights", "entropy", "row_sums", "distance"):
        assert not getattr(summary, name).any()
    assert (summary.log_sum_exp == -math.inf).all()
    with_sink = summarise(made(7, 11, mask="all is padding", sink=1.5), 3)
    near(with_sink.log_sum_exp, torch.full((7,), 1.5))
    assert not with_sink.row_sums.any()


@pytest.mark.parametrize(("rows", "keys"), [(0, 5), (3, 0), (0, 0)])
def test_empty(rows, keys):
    summary = summarise(Head(torch.zeros(rows, 2), torch.zeros(keys, 2), 1.0), 4)
    assert summary.top_keys.tolist() == [[-1] * 4] * rows
    assert summary.log_sum_exp.tolist() == [-math.inf] * rows
    assert not summary.row_sums.any()


@pytest.mark.parametrize(
    "rows", [slice(3, 5), slice(130, 190), slice(-7, None), slice(9, 2), slice(200, 9999)]
)
def test_some_of_the_rows_are_those_rows_of_all(rows):
    head = made(mask="causal", sink=0.1)
    some, everything = summarise(head, 3, rows), summarise(head, 3)
    for name in RowSummary.__dataclass_fields__:
        torch.testing.assert_close(getattr(some, name), getattr(everything, name)[rows])


def test_rows_of_a_long_run():
    torch.manual_seed(1)
    length, chosen = 20_011, slice(15_000, 15_007)
    query, key = torch.randn(length, 16), torch.randn(length, 16)
    for mask in (None, Mask.causal(), Mask.window(3000)):
        head = Head(query, key, 0.25, mask)
        got = summarise(head, 16, chosen)
        table = Table.of(Head(query[chosen], key, 0.25, Mask.allowed(visible(head, chosen))), first=15_000)
        keys, weights = table.top(16)
        assert torch.equal(got.top_keys, keys)
        near(got.top_weights, weights)
        near(got.log_sum_exp, table.log_sum_exp(), atol=1e-5)
        near(got.entropy, table.entropy(), atol=1e-5)
        near(got.distance, table.distance(), rtol=1e-5)


def visible(head: Head, rows: slice) -> torch.Tensor:
    count = rows.stop - rows.start
    allowance = head.allowance(rows, slice(0, head.keys))
    return torch.ones(count, head.keys, dtype=torch.bool) if allowance is None else allowance == 0


@given(st.data())
def test_any_shape_and_mask(data):
    shape = tuple(
        data.draw(st.sampled_from(sizes)) for sizes in ([1, 2], [1, 3], [1, 2, 5, 13], [1, 3, 7, 67, 131])
    )
    mask, _ = data.draw(strategies.masks(shape))
    place = tuple(data.draw(st.integers(0, size - 1)) for size in shape[:2])
    torch.manual_seed(data.draw(st.integers(0, 2**16)))
    query, key = torch.randn(shape[2], 3).double(), torch.randn(shape[3], 3).double()
    softcap, sink = data.draw(st.sampled_from([None, 2.0])), data.draw(st.sampled_from([None, -1.0, 3.0]))
    head = Head(query, key, data.draw(st.sampled_from([0.5, 30.0])), mask, shape, place, softcap, sink)
    compare(head, data.draw(st.integers(1, 9)))


def test_autocast_and_gradients_change_nothing():
    head = made(mask="causal")
    head = Head(head.query.float().requires_grad_(), head.key.float().requires_grad_(), head.scale, head.mask)
    plain = summarise(head, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = summarise(head, 3)
    for name in RowSummary.__dataclass_fields__:
        assert torch.equal(getattr(plain, name), getattr(mixed, name))
        assert not getattr(plain, name).requires_grad


def test_few_scores_are_searched():
    """Without ties nothing but groups is looked into: the slow search would be right, too, and is not met."""
    called = []
    slow = largest._lower_first
    largest._lower_first = lambda *given: called.append(given) or slow(*given)
    try:
        summarise(made(mask="causal"), 16)
        assert not called
        summarise(Head(torch.ones(1, 1), torch.ones(5, 1), 1.0), 3)
        assert called
    finally:
        largest._lower_first = slow


@pytest.mark.parametrize("top", [0, -1, 1.5, True, None])
def test_top_is_a_number_of_keys(top):
    with pytest.raises(ValueError, match=r"^top is .*; expected how many keys"):
        summarise(made(3, 5), top)


def test_rows_have_no_step():
    with pytest.raises(ValueError, match="expected rows next to one another"):
        summarise(made(3, 5), 1, slice(0, 3, 2))
