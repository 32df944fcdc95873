"""Sinusoidal positions of any width, an odd one included."""

import torch

from mirada.exercises.functions import Function


def positions(length, d):
    pos = torch.arange(length)[:, None]
    angles = pos / 10000 ** (torch.arange(0, d, 2) / d)
    table = torch.zeros(length, d)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d // 2]
    return table


def one_cosine_too_many(length, d):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    table = torch.zeros(length, d)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def built(length, d, exponent=lambda d: torch.arange(0, d, 2) / d, base=10000.0, first=0):
    angles = (torch.arange(length) + first)[:, None] / base ** exponent(d)
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)[:, :d]


def halves(length, d):
    table = positions(length, d)
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1)


def last_is(change):
    def wrong(length, d):
        table = positions(length, d)
        if d % 2:
            table[:, -1] = change(table, d)
        return table

    return wrong


def cosine(table, d):
    return (torch.arange(len(table)) / 10000 ** ((d - 1) / d)).cos()


def swapped(length, d):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return torch.stack([angles.cos(), angles.sin()], 2).flatten(1)[:, :d]


def single_columns(length, d):
    """Exponents i/d where i counts columns: sine and cosine of different angles."""
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(d) / d)
    return torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())


exercise = Function(
    "odd_sinusoid",
    positions,
    cases=[(11, 7), (13, 8), (5, 3), (3, 1)],
    mistakes={
        "one_cosine_too_many": one_cosine_too_many,
        "last_missing": lambda length, d: positions(length, d)[:, : d // 2 * 2],
        "one_too_many": lambda length, d: built(length, d + 1, lambda _: torch.arange(0, d, 2) / d),
        "last_zero": last_is(lambda table, d: 0),
        "last_cosine": last_is(cosine),
        "halves": halves,
        "swapped": swapped,
        "exponent_of_column": single_columns,
        "from_one": lambda length, d: built(length, d, first=1),
        "rounded_d": lambda length, d: built(length, d, lambda d: torch.arange(0, d, 2) / (d // 2 * 2 or 1)),
    },
)
