"""Overlays: a veil as thick as a patch is not looked at, frames, bars; and what is refused."""

import re

import numpy as np
import pytest
import torch
from figure_reading import pixels, said, saved, texts_in

from mirada.views import figures

ROWS, COLUMNS, SIZE = 3, 5, 7
VEIL = 0.94


def picture(channels=3):
    """One colour a patch, so that what is seen through a veil can be told."""
    colours = torch.rand(channels, ROWS, COLUMNS, generator=torch.Generator().manual_seed(1)) / 2
    return colours.repeat_interleave(SIZE, 1).repeat_interleave(SIZE, 2)


def weights(share=0.6):
    table = torch.rand(ROWS, COLUMNS, generator=torch.Generator().manual_seed(2))
    return share * table / table.sum()


def drawn(figure):
    """The veiled picture: (height, width, 3)."""
    return figure.axes[0].images[0].get_array()


def frames(figure, name):
    """Left, top, width and height of each, in points."""
    boxes = [patch for patch in figure.axes[0].patches if patch.get_gid() == name]
    return [(*box.get_xy(), box.get_width(), box.get_height()) for box in boxes]


def cell_of(figure, frame):
    """The (row, column) that a frame is round."""
    ((left, top, width, height),) = frames(figure, "edge")
    x, y = frame[0] + frame[2] / 2 - left, frame[1] + frame[3] / 2 - top
    return int(y / height * ROWS), int(x / width * COLUMNS)


@pytest.mark.parametrize("channels", [1, 3])
def test_each_patch_is_veiled_by_as_much_as_it_is_not_looked_at(channels):
    image, table = picture(channels), weights()
    found = drawn(figures.overlay(image, table))
    assert min(found.shape[:2]) >= 600  # or a small picture's patches would not end where they do
    fold = found.shape[0] // image.shape[1]
    for row in range(ROWS):
        for column in range(COLUMNS):
            veil = VEIL * (1 - float(table[row, column] / table.max()))
            colour = image[:, row * SIZE, column * SIZE].double().numpy()
            part = found[
                row * SIZE * fold : (row + 1) * SIZE * fold, column * SIZE * fold : (column + 1) * SIZE * fold
            ]
            np.testing.assert_allclose(
                part, np.broadcast_to((1 - veil) * colour + veil, part.shape), atol=1e-6
            )


def test_what_is_looked_at_most_is_seen_as_it_is_and_on_the_sheet_where_it_belongs():
    image, table = picture(), torch.zeros(ROWS, COLUMNS)
    table[1, 3] = 0.01  # how little it may be: the scale ends there
    figure = figures.overlay(image, table)
    ((left, top, width, height),) = frames(figure, "edge")
    seen, ax = pixels(figure), figure.axes[0]
    for row, column in ((1, 3), (1, 2), (0, 3), (2, 4)):
        x, y = left + (column + 0.5) / COLUMNS * width, top + (row + 0.5) / ROWS * height
        across, up = ax.transData.transform((x, y))
        colour = image[:, row * SIZE, column * SIZE].numpy()
        expected = colour if (row, column) == (1, 3) else (1 - VEIL) * colour + VEIL
        np.testing.assert_allclose(seen[len(seen) - 1 - int(up), int(across)], expected, atol=0.01)


def test_an_oblong_picture_keeps_its_shape():
    for height, width in ((30, 80), (80, 30)):
        ((_, _, wide, high),) = frames(figures.overlay(torch.rand(3, height, width), weights()), "edge")
        assert wide / high == pytest.approx(width / height)


def test_frames_are_round_who_looks_and_who_is_looked_at_most():
    table = weights()
    figure = figures.overlay(picture(), table, query=(2, 1))
    (query,), (most,) = frames(figure, "query"), frames(figure, "most")
    assert cell_of(figure, query) == (2, 1)
    assert cell_of(figure, most) == divmod(int(table.argmax()), COLUMNS) == (2, 3)
    assert {"patch 11 looks", "looked at most: patch 13, 7.2\u202f%"} <= set(said(figure))


def test_who_looks_most_at_itself_has_one_frame():
    figure = figures.overlay(picture(), weights(), query=(2, 3))
    assert len(frames(figure, "query")) == 1
    assert frames(figure, "most") == []
    assert "patch 13 looks, most at itself: 7.2\u202f%" in said(figure)


def test_tokens_that_are_no_patches_are_bars_beside_the_picture():
    beside = {"[CLS]": 0.25, "register 0": 0.15, "register 1": 0.0}
    figure = figures.overlay(picture(), weights(), beside=beside, query="[CLS]")
    ((_, top, _, height),) = frames(figure, "edge")
    bars = frames(figure, "weight")
    assert all(bar[1] > top + height for bar in bars), "below the picture"
    lengths = np.array([bar[2] for bar in bars])
    np.testing.assert_allclose(lengths / lengths.sum(), [0.25, 0.15, 0, 0.6], atol=1e-6)
    assert {"[CLS] looks", "[CLS]", "register 0", "register 1", "the 15 patches"} <= set(said(figure))
    assert {"25\u202f%", "15\u202f%", "0\u202f%", "60\u202f%"} <= set(said(figure))
    assert frames(figure, "query") == []
    # What stands beside the picture changes nothing in it.
    assert (drawn(figure) == drawn(figures.overlay(picture(), weights()))).all()


def test_lines_are_as_long_as_the_shares():
    table = weights()
    (lines,) = [c for c in figures.overlay(picture(), table).axes[0].collections if c.get_gid() == "shares"]
    long = np.array([segment[1, 0] - segment[0, 0] for segment in lines.get_segments()])
    shares = (table / table.max()).flatten().numpy()
    np.testing.assert_allclose(long / long.max(), shares[shares > 0.01], atol=1e-5)


def test_what_is_masked_is_hatched_and_no_zero():
    table = weights()
    table[0, 2] = torch.nan
    table[2, 2] = 0
    figure = figures.overlay(picture(), table)
    hatches = frames(figure, "masked")
    assert [cell_of(figure, frame) for frame in hatches] == [(0, 2)]
    assert "masked: may not look" in said(figure)
    assert "masked: may not look" not in said(figures.overlay(picture(), weights()))


def test_nothing_is_looked_at():
    for table in (torch.zeros(ROWS, COLUMNS), torch.full((ROWS, COLUMNS), torch.nan)):
        figure = figures.overlay(picture(), table, beside={"[CLS]": 1.0}, query="[CLS]")
        assert frames(figure, "most") == []
        np.testing.assert_allclose(drawn(figure)[0, 0], 0.06 * picture()[:, 0, 0].numpy() + VEIL, atol=1e-6)


def test_it_is_told_in_both_languages():
    table = torch.zeros(ROWS, COLUMNS)
    table[0, 1], table[2, 0], table[1, 1] = 0.5, 0.062, 0.0003
    told = {
        language: figures.alternative(
            figures.overlay(picture(), table, beside={"[CLS]": 0.4}, query="[CLS]", language=language)
        ).replace("\u202f", " ")
        for language in ("en", "es")
    }
    assert told["en"].endswith(
        "Who looks: [CLS]. Looked at: patch 1 (row 0, column 1): 50 %; patch 10 (row 2, column 0): 6.2 %; "
        "patch 6 (row 1, column 1): <0.1 %; [CLS]: 40 %."
    )
    assert told["es"].endswith(
        "Quién mira: [CLS]. Qué se mira: parche 1 (fila 0, columna 1): 50 %; parche 10 (fila 2, columna 0): "
        "6,2 %; parche 6 (fila 1, columna 1): <0,1 %; [CLS]: 40 %."
    )


def test_names_are_drawn_as_they_are(tmp_path):
    figure = figures.overlay(picture(), weights(), beside={"$x$_<b>\n": 0.4}, query="$x$_<b>\n")
    assert "$x$_<b>\\n" in texts_in(saved(figure, tmp_path, ".svg").decode())


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
def test_the_same_picture_gives_the_same_file(tmp_path, ending):
    first, second = (saved(figures.overlay(picture(), weights()), tmp_path, ending) for _ in range(2))
    assert first == second
    if ending == ".svg":  # one image for the picture and one for the scale: no seams between veils
        assert len(re.findall(b"<image", first)) == 2


@pytest.mark.parametrize(
    ("image", "table", "options", "says"),
    [
        (torch.rand(21, 35), weights(), {}, r"image has shape \(21, 35\)"),
        (torch.rand(2, 21, 35), weights(), {}, r"image has shape \(2, 21, 35\)"),
        (torch.rand(3, 0, 35), weights(), {}, r"image has shape \(3, 0, 35\)"),
        (picture() * 255, weights(), {}, "outside of 0 to 1: divide whole ones by 255"),
        (picture() - 1, weights(), {}, "outside of 0 to 1"),
        (picture() * torch.nan, weights(), {}, "outside of 0 to 1"),
        (torch.zeros(1, 2001, 2000), weights(), {}, "4,002,000 pixels; expected at most 4,000,000"),
        (picture(), weights().flatten(), {}, r"weights has shape \(15,\)"),
        (picture(), torch.zeros(0, 5), {}, r"weights has shape \(0, 5\)"),
        (picture(), -weights(), {}, "expected 0 to 1"),
        (picture(), weights() * 30, {}, "expected 0 to 1"),
        (picture(), weights(), {"beside": {"[CLS]": 1.5}}, r"beside has weights \[1.5\]"),
        (picture(), weights(), {"beside": dict.fromkeys(range(17), 0.0)}, "beside has 17 tokens"),
        (picture(), weights(), {"query": "[CLS]"}, r"query is '\[CLS\]'; expected one of no names"),
        (picture(), weights(), {"query": (3, 0)}, r"query is \(3, 0\); expected .* of 3 × 5 patches"),
        (picture(), weights(), {"query": (0, -1)}, r"query is \(0, -1\)"),
        (picture(), weights(), {"language": "fr"}, "language is 'fr'"),
    ],
)
def test_what_is_refused(image, table, options, says):
    with pytest.raises(ValueError, match=says):
        figures.overlay(image, table, **options)
