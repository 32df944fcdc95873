"""Patches: the loops that say what they are, the ways back, the lesson's picture, and what is refused."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mirada import crop, pad, patches, unpatch

FACTS = json.loads((Path(__file__).parents[1] / "facts.json").read_text())

sides = st.integers(1, 5)
pictures = st.tuples(st.integers(0, 3), st.integers(1, 4), sides, sides, st.integers(1, 5))


def cut_by_hand(images, size):
    """Pixel by pixel, over plain numbers."""
    numbers = images.tolist()
    result = []
    for picture in numbers:
        channels, height, width = len(picture), len(picture[0]), len(picture[0][0])
        sentence = []
        for top in range(0, height, size):
            for left in range(0, width, size):
                patch = []
                for channel in range(channels):
                    for y in range(top, top + size):
                        for x in range(left, left + size):
                            patch.append(picture[channel][y][x])
                sentence.append(patch)
        result.append(sentence)
    return torch.tensor(result, dtype=images.dtype)


def some(batch, channels, height, width, dtype=torch.float64):
    return torch.randn(batch, channels, height, width).to(dtype)


def test_patches_are_cut_as_the_loops_cut_them():
    images = some(2, 3, 5 * 7, 11 * 7)
    assert torch.equal(patches(images, 7), cut_by_hand(images, 7))


def test_rows_come_first():
    # TorchCode#21
    image = torch.arange(16).reshape(1, 1, 4, 4)
    expected = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    assert patches(image, 2).tolist() == [expected]


def test_a_projection_of_patches_is_a_convolution_that_steps_from_patch_to_patch():
    images, kernel = some(2, 3, 10, 15), some(7, 3, 5, 5)
    expected = torch.nn.functional.conv2d(images, kernel, stride=5).flatten(2).mT
    torch.testing.assert_close(patches(images, 5) @ kernel.flatten(1).T, expected)


@given(pictures, st.sampled_from([torch.float64, torch.float16, torch.uint8, torch.bool]))
def test_unpatch_is_the_way_back_to_the_last_bit(shape, dtype):
    batch, channels, rows, columns, size = shape
    images = some(batch, channels, rows * size, columns * size, dtype)
    sequence = patches(images, size)
    assert sequence.shape == (batch, rows * columns, channels * size * size)
    assert sequence.dtype == dtype
    assert torch.equal(unpatch(sequence, size, (rows, columns)), images)
    assert torch.equal(patches(unpatch(sequence, size, (rows, columns)), size), sequence)


def test_gradients_go_back_to_each_pixel_once():
    images = some(2, 3, 4, 6).requires_grad_()
    weights = some(2, 6, 12, 1)[..., 0]
    (patches(images, 2) * weights).sum().backward()
    assert torch.equal(images.grad, unpatch(weights, 2, (2, 3)))


def test_pictures_of_no_contiguous_memory_are_cut_alike():
    images = some(2, 6, 15, 3).permute(0, 3, 1, 2)  # as Pillow and TensorFlow lay them out
    assert torch.equal(patches(images, 3), patches(images.contiguous(), 3))


@given(pictures, st.integers(0, 4), st.integers(0, 4))
def test_crop_and_pad_make_pictures_that_can_be_cut(shape, below, right):
    batch, channels, rows, columns, size = shape
    below, right = below % size, right % size
    height, width = rows * size + below, columns * size + right
    images = some(batch, channels, height, width)
    cut = crop(images, size)
    assert torch.equal(
        cut, images[:, :, below // 2 : below // 2 + rows * size, right // 2 : right // 2 + columns * size]
    )
    filled = pad(images, size)
    assert torch.equal(filled[:, :, :height, :width], images)
    assert filled.count_nonzero() == images.count_nonzero()
    assert 0 <= filled.shape[2] - height < size
    assert 0 <= filled.shape[3] - width < size
    patches(cut, size)
    patches(filled, size)


@pytest.mark.parametrize("shape", [(2, 3, 15, 14), (2, 3, 14, 15), (1, 1, 8, 8)])
def test_sides_that_the_patch_does_not_divide_are_named_and_the_way_out_is_said(shape):
    # d2l and others cut the rest off in silence
    height, width = shape[2:]
    with pytest.raises(ValueError, match=rf"{height} × {width} pixels.*patches of 7 × 7.*") as raised:
        patches(torch.zeros(shape), 7)
    assert "mirada.crop(images, 7)" in str(raised.value)
    assert "mirada.pad(images, 7)" in str(raised.value)


def test_what_is_no_picture_is_refused():
    with pytest.raises(ValueError, match=r"but are \(3, 4, 4\): write images\[None\] for a single one"):
        patches(torch.zeros(3, 4, 4), 2)
    for size in (0, -2, 2.0, True):
        for function in (patches, crop, pad):
            with pytest.raises(ValueError, match="size must be a whole number of at least 1"):
                function(torch.zeros(1, 3, 4, 4), size)
    with pytest.raises(ValueError, match="no patch of 7 × 7 fits into 4 × 14 pixels"):
        crop(torch.zeros(1, 3, 4, 14), 7)


def test_sentences_that_are_no_picture_are_refused():
    with pytest.raises(ValueError, match=r"sequence must be .*, but is \(6, 12\)"):
        unpatch(torch.zeros(6, 12), 2, (2, 3))
    with pytest.raises(ValueError, match="6 patches; a grid of 2 × 5 has 10"):
        unpatch(torch.zeros(1, 6, 12), 2, (2, 5))
    with pytest.raises(ValueError, match="6 patches; a grid of -2 × -3"):
        unpatch(torch.zeros(1, 6, 12), 2, (-2, -3))
    with pytest.raises(ValueError, match="11 numbers; expected a multiple of size² = 4"):
        unpatch(torch.zeros(1, 6, 11), 2, (2, 3))


def test_the_lessons_picture():
    from sklearn.datasets import load_sample_image

    said = FACTS["patches"]
    photograph = torch.from_numpy(load_sample_image("china.jpg").copy())[::4, ::4][:96, :160]
    image = photograph.permute(2, 0, 1)[None] / 255
    size, (rows, columns) = said["patch"], said["grid"]
    unfolded = image[0].unflatten(1, (rows, size)).unflatten(3, (columns, size)).transpose(2, 3)
    assert list(unfolded.shape) == said["unfolded"]
    sequence = patches(image, size)
    assert list(sequence[0].shape) == said["sequence"]
    assert torch.equal(sequence[0, 11], image[0, :, 16:32, 16:32].flatten())  # row 1, column 1
    assert torch.equal(sequence[0], unfolded.permute(1, 2, 0, 3, 4).flatten(2).flatten(0, 1))
    assert torch.equal(unpatch(sequence, size, (rows, columns)), image)
