"""An image as a sentence of patches, without a loop."""

from mirada.exercises.functions import Function, draw


def cut_patches(image, size):
    channels, height, width = image.shape
    rows, columns = height // size, width // size
    cut = image.view(channels, rows, size, columns, size)
    return cut.permute(1, 3, 0, 2, 4).reshape(rows * columns, channels * size * size)


def cut(image, size, order):
    channels, height, width = image.shape
    rows, columns = height // size, width // size
    pieces = image.reshape(channels, rows, size, columns, size).permute(order)
    return pieces.reshape(rows * columns, -1)


exercise = Function(
    "cut_patches",
    cut_patches,
    cases=[(draw(3, 10, 15), 5), (draw(2, 21, 6), 3), (draw(3, 4, 4), 2)],
    mistakes={
        "only_reshaped": lambda image, size: image.reshape(-1, image.shape[0] * size * size),
        "channels_last": lambda image, size: cut(image, size, (1, 3, 2, 4, 0)),
        "column_by_column": lambda image, size: cut(image, size, (3, 1, 0, 2, 4)),
        "patch_turned": lambda image, size: cut(image, size, (1, 3, 0, 4, 2)),
        "strips": lambda image, size: cut(image, size, (1, 0, 2, 3, 4)),
        "every_so_many": lambda image, size: (
            image.reshape(image.shape[0], size, image.shape[1] // size, size, image.shape[2] // size)
            .permute(2, 4, 0, 1, 3)
            .reshape(-1, image.shape[0] * size * size)
        ),
        "channels_apart": lambda image, size: cut(image, size, (1, 3, 0, 2, 4)).reshape(-1, size * size),
        "grid_kept": lambda image, size: cut_patches(image, size).reshape(
            image.shape[1] // size, image.shape[2] // size, -1
        ),
    },
)
