"""What keys receive, regions and the small map, against the full table."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from long_tables import Table, near

import strategies
from mirada import Mask
from mirada.watching import overview
from mirada.watching.head import Head
from mirada.watching.longview import received, regions, tiles

MASKS = {
    "none": None,
    "causal": Mask.causal(),
    "causal, first 3": Mask.causal(first=3),
    "window": Mask.causal() & Mask.window(17),
    "padding": Mask.padding([103, 61]),
    "padding left": Mask.padding([103, 61], side="left"),
    "all is padding": Mask.padding([103, 0]),
    "table": Mask.allowed(torch.rand(3, 83, 103, generator=torch.Generator().manual_seed(0)) < 0.2),
    "bias": Mask.bias(torch.tensor([0.0, -1e30, -math.inf, 2.0]).repeat(26)[:103]),
}


@pytest.fixture(params=MASKS)
def head(request) -> Head:
    query, key = torch.randn(83, 7).double(), torch.randn(103, 7).double()
    return Head(
        query,
        key,
        0.4,
        MASKS[request.param],
        (2, 3, 83, 103),
        (1, 1),
        sink=0.5 if request.param == "table" else None,
    )


@pytest.fixture(params=[7, 64])  # one at a time: test_any_shape_and_mask
def _rows_at_a_time(request, monkeypatch):
    monkeypatch.setattr(overview, "ROWS", request.param)


def expected_received(head: Head) -> tuple[torch.Tensor, torch.Tensor]:
    """In loops: the mean over those rows that may see the key."""
    table = Table.of(head)
    means, counts = [], []
    for key in range(head.keys):
        seen = table.scores[:, key] > -math.inf
        counts.append(int(seen.sum()))
        means.append(float(table.weights[seen, key].mean()) if counts[-1] else 0.0)
    return torch.tensor(means, dtype=torch.float64), torch.tensor(counts)


def expected_regions(head: Head, row_edges, column_edges) -> torch.Tensor:
    weights = Table.of(head).weights
    parts = [
        [weights[a:b, c:d].sum(1).mean() for c, d in pairwise(column_edges)] for a, b in pairwise(row_edges)
    ]
    return torch.tensor(parts, dtype=torch.float64)


def expected_tiles(head: Head, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    weights = Table.of(head).weights
    height, width = (math.ceil(length / size) for length in weights.shape)
    pieces = [line.split(width, 1) for line in weights.split(height, 0)]
    return (
        torch.tensor([[part.mean() for part in line] for line in pieces], dtype=torch.float64),
        torch.tensor([[part.amax() for part in line] for line in pieces], dtype=torch.float64),
    )


@pytest.mark.usefixtures("_rows_at_a_time")
def test_received(head):
    mean, rows = expected_received(head)
    got = received(head)
    near(got.mean, mean)
    assert torch.equal(got.rows, rows)


@pytest.mark.usefixtures("_rows_at_a_time")
@pytest.mark.parametrize(  # rows and columns are divided each for itself: every division once
    ("row_edges", "column_edges"),
    [
        ([0, 83], [3, 4, 60, 102]),
        ([0, 1, 2, 3, 50, 83], [0, 103]),
        ([5, 11, 64, 65], list(range(104))),
        (list(range(84)), [3, 4, 60, 102]),
    ],
)
def test_regions(head, row_edges, column_edges):
    near(regions(head, row_edges, column_edges), expected_regions(head, row_edges, column_edges))


def test_regions_of_all_keys_sum_to_what_rows_sum_to():
    head = Head(torch.randn(5, 3), torch.randn(7, 3), 1.0, sink=0.5)
    near(regions(head, [0, 5], [0, 2, 7]).sum(), Table.of(head).weights.sum(1).mean())


@pytest.mark.usefixtures("_rows_at_a_time")
@pytest.mark.parametrize("size", [1, 5, 41, 103])  # one tile to one for each weight
def test_tiles(head, size):
    mean, largest = expected_tiles(head, size)
    got = tiles(head, size)
    assert max(got.mean.shape) <= size
    near(got.mean, mean)
    near(got.largest, largest)


@given(st.data())
def test_any_shape_and_mask(data):
    shape = tuple(
        data.draw(st.sampled_from(sizes)) for sizes in ([1, 2], [1, 3], [1, 2, 5, 13], [1, 3, 7, 31])
    )
    mask, _ = data.draw(strategies.masks(shape))
    place = tuple(data.draw(st.integers(0, size - 1)) for size in shape[:2])
    torch.manual_seed(data.draw(st.integers(0, 2**16)))
    query, key = torch.randn(shape[2], 3).double(), torch.randn(shape[3], 3).double()
    softcap, sink = data.draw(st.sampled_from([None, 2.0])), data.draw(st.sampled_from([None, -1.0, 3.0]))
    head = Head(query, key, data.draw(st.sampled_from([0.5, 3000.0])), mask, shape, place, softcap, sink)
    size = data.draw(st.integers(1, 15))
    edges = [
        sorted(data.draw(st.sets(st.integers(0, length), min_size=2, max_size=5))) for length in shape[2:]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overview, "ROWS", data.draw(st.sampled_from([64, 1, 3])))
        near(received(head).mean, expected_received(head)[0])
        for got, wanted in zip(tiles(head, size), expected_tiles(head, size), strict=True):
            near(got, wanted)
        near(regions(head, *edges), expected_regions(head, *edges))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_in_other_dtypes(dtype):
    head = Head(torch.randn(83, 7).to(dtype), torch.randn(103, 7).to(dtype), 0.4, Mask.causal())
    near(received(head).mean, expected_received(head)[0])
    near(tiles(head, 9).mean, expected_tiles(head, 9)[0])


@pytest.mark.parametrize("sides", [(0, 5), (3, 0), (0, 0)])
def test_empty(sides):
    rows, keys = sides
    head = Head(torch.zeros(rows, 2), torch.zeros(keys, 2), 1.0)
    assert received(head).mean.tolist() == [0.0] * keys
    assert tiles(head, 5).mean.shape == sides


@pytest.mark.parametrize("edges", [[], [0], [0, 0], [0, 3, 2], [-1, 3], [0, 6], [3, 0]])
def test_edges_ascend_and_are_there(edges):
    head = Head(torch.zeros(5, 2), torch.zeros(5, 2), 1.0)
    with pytest.raises(
        ValueError, match=r"^row_edges is \[.*\]; expected at least two that ascend, from 0 to 5"
    ):
        regions(head, edges, [0, 5])
    with pytest.raises(
        ValueError, match=r"^column_edges is \[.*\]; expected at least two that ascend, from 0 to 5"
    ):
        regions(head, [0, 5], edges)


@pytest.mark.parametrize("size", [0, -3, 2.0, True, None])
def test_size_is_a_number_of_tiles(size):
    with pytest.raises(ValueError, match=r"^size is .*; expected how many tiles"):
        tiles(Head(torch.zeros(5, 2), torch.zeros(5, 2), 1.0), size)
