"""To sort, whom one looks at depends on what stands there."""

import torch

from mirada.exercises.exercise import Odd
from mirada.exercises.functions import Function
from mirada.exercises.numbers import numbers


def places(rows):
    return rows.argsort(dim=1)


def digits_there(function, rows):
    """Equal digits may come in any order: what is compared are the digits at the places given."""
    given = function(rows)
    if given is None or given is ...:
        return given
    found = numbers(given)
    if found.shape != rows.shape:
        return found
    if not torch.equal(found.sort(1).values, torch.arange(rows.shape[1]).double().expand_as(found)):
        kind = "digits" if torch.equal(found, rows.sort(1).values.double()) else "not_places"
        raise Odd(f"sort_instead.{kind}")
    return rows.gather(1, found.long())


exercise = Function(
    "sort_instead",
    places,
    use=digits_there,
    cases=[
        (torch.tensor([[4, 9, 3, 0, 3, 9, 7, 3], [8, 1, 3, 9, 6, 5, 4, 0], [5, 6, 2, 2, 0, 1, 9, 8]]),),
        (torch.tensor([[7, 2, 5, 1, 3], [0, 9, 4, 4, 2]]),),
    ],
    mistakes={
        "mirror": lambda rows: torch.arange(rows.shape[1]).flip(0).expand_as(rows),
        "stays": lambda rows: torch.arange(rows.shape[1]).expand_as(rows),
        "descending": lambda rows: rows.argsort(dim=1, descending=True),
        "ranks": lambda rows: rows.argsort(dim=1, stable=True).argsort(dim=1),
        "both": lambda rows: rows.sort(1),
    },
)
