"""Where [CLS] looks, as a map over the image."""

from mirada.exercises.functions import Function, draw


def overlay(weights, rows, columns, size):
    grid = weights[1:].reshape(rows, columns)
    return grid.repeat_interleave(size, dim=0).repeat_interleave(size, dim=1)


def grown(grid, size):
    return grid.repeat_interleave(size, dim=0).repeat_interleave(size, dim=1)


exercise = Function(
    "overlay",
    overlay,
    cases=[(draw(16), 3, 5, 2), (draw(15), 7, 2, 3), (draw(5), 2, 2, 5)],
    mistakes={
        "with_cls": lambda weights, rows, columns, size: grown(weights.reshape(rows, columns), size),
        "cls_last": lambda weights, rows, columns, size: grown(weights[:-1].reshape(rows, columns), size),
        "tiled": lambda weights, rows, columns, size: weights[1:].reshape(rows, columns).repeat(size, size),
        "not_grown": lambda weights, rows, columns, size: weights[1:].reshape(rows, columns),
        "sides_swapped": lambda weights, rows, columns, size: grown(weights[1:].reshape(columns, rows), size),
        "column_by_column": lambda weights, rows, columns, size: grown(
            weights[1:].reshape(columns, rows).T, size
        ),
        "turned": lambda weights, rows, columns, size: overlay(weights, rows, columns, size).T,
        "shared_out": lambda weights, rows, columns, size: overlay(weights, rows, columns, size) / size**2,
    },
)
