"""Keys at the end that nobody may look at: places of a cache that wait for what comes, or padding."""

import torch
import torch.nn.functional as F
from torch import nn

import mirada
from mirada.watching.look import ABSENT, MASKED, SEEN

ROOM = 11  # places, of which 8 or fewer are looked at


class Attention(nn.Module):
    """Its path and its name say nothing of where its keys come from."""

    def forward(self, query, key, mask):
        return F.scaled_dot_product_attention(query, key, key, mask)


def called(*calls):
    model = Attention()
    with mirada.watch(model) as gaze:
        for query, key, mask in calls:
            model(query, key, mask)
    assert gaze.proved
    return gaze


def cache(written: int) -> torch.Tensor:
    """The same text at every time, and zeros behind what was written of it."""
    key = torch.randn(2, 3, ROOM, 5, generator=torch.Generator().manual_seed(0))
    key[:, :, written:] = 0
    return key


def query(rows: int) -> torch.Tensor:
    return torch.randn(2, 3, rows, 5)


def test_padding_stays():
    """As a few rows read a padded text: no row shall lose the columns that say so."""
    real = torch.tensor([8, 6])
    mask = (torch.arange(ROOM) < real[:, None])[:, None, None]
    for rows in (1, 2, 4, 7):
        look = called((query(rows), torch.randn(2, 3, ROOM, 5), mask))[0]
        assert (look.rows, look.keys) == (rows, ROOM)
        wanted = torch.where(mask, SEEN, MASKED).expand(2, 3, rows, ROOM)
        assert torch.equal(look.states(), wanted.to(torch.uint8))


def test_room_goes_where_each_row_looks_one_key_further():
    for rows, before in ((2, 0), (5, 2), (5, 6)):
        mask = torch.arange(ROOM) <= torch.arange(rows)[:, None] + before
        look = called((query(rows), cache(rows + before), mask))[0]
        assert (look.rows, look.keys) == (rows, min(rows + before, ROOM))
        assert look.positions == list(range(before, rows + before))


def test_room_goes_once_the_next_step_has_written_there():
    """Five rows that all look at one another, as a picture before a text, and a word behind them."""
    first = query(5), cache(5), (torch.arange(ROOM) < 5)[None].expand(5, -1)
    then = query(1), cache(6), (torch.arange(ROOM) < 6)[None]
    assert called(first)[0].keys == ROOM  # it may be padding
    gaze = called(first, then)
    look = gaze[0]
    assert len(gaze.runs) == 1
    assert (look.steps, look.rows, look.keys) == (2, 6, 6)
    assert look.positions == list(range(6))
    assert (look.states(rows=range(5))[..., 5] == ABSENT).all()
    assert (look.states(rows=range(5))[..., :5] == SEEN).all()
