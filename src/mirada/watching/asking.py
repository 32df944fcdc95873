"""Which rows, heads, keys are asked for: by number, from 0 or, negative, from the end."""

from collections.abc import Iterable, Sequence

Which = int | slice | Iterable[int] | None  # None: all of them


def places(numbers: Which, size: int, name: str) -> list[int]:
    """The numbers from 0, in the order asked for. ValueError for one that is not there."""
    if numbers is None or isinstance(numbers, slice):
        return list(range(size)[numbers or slice(None)])
    found = []
    for number in [numbers] if isinstance(numbers, int) else numbers:
        if not -size <= number < size:
            raise ValueError(f"{name} {number} is not there: there are {size}, 0 to {size - 1}")
        found.append(int(number) % size)
    return found


def spans(numbers: Sequence[int]) -> str:
    """0 to 11, or a list where some are left out."""
    if list(numbers) == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))
