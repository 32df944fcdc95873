"""Broken: positions along the batch."""

import torch

from mirada.exercises.functions import Function, draw


def broken(x, table):
    places = torch.arange(x.shape[0])
    return x + table[places][:, None, :]


def with_positions(x, table):
    places = torch.arange(x.shape[1])
    return x + table[places]


exercise = Function(
    "broken_positions",
    with_positions,
    broken=broken,
    cases=[(draw(5, 5, 3), draw(11, 3)), (draw(2, 7, 5), draw(13, 5)), (draw(3, 5, 2), draw(5, 2))],
    mistakes={
        "as_it_was": broken,
        "only_the_table": lambda x, table: table[: x.shape[1]].expand_as(x),
        "from_one": lambda x, table: x + table[torch.arange(x.shape[1]) + 1],
        "whole_table": lambda x, table: x + table,
        "no_axis": lambda x, table: x + table[: x.shape[0]],
        "length_in_front": lambda x, table: x + table[: x.shape[1]][:, None, :],
    },
)
