"""The lesson's pictures: each draws the numbers that it is given, and says them to who cannot see it."""

import re

import numpy as np
import pytest
import torch
from figure_reading import made, pixels, said, saved, texts_in
from matplotlib.figure import Figure

from mirada import BlockConfig, TransformerBlock, figures, sinusoidal_positions
from mirada.views.figure_shown import Picture
from mirada.views.figure_waves import period

WORDS, SCORES = ("plata", "sacó", "Ana", "del"), (2.0, 1.0, 0.5, -1.0)
CAUSAL = {"kind": "causal"}


def picture(rows=6, columns=10, side=7, channels=3):
    torch.manual_seed(0)
    return torch.rand(channels, rows * side, columns * side)


DRAWN = {
    "temperatures": lambda **o: figures.temperatures(WORDS, SCORES, **o),
    "numbers": lambda **o: figures.numbers(made(5, 5, [CAUSAL]), **o),
    "places": lambda **o: figures.places(made(list("8339"), list("8339")), **o),
    "sinusoids": lambda **o: figures.sinusoids(11, 6, **o),
    "block": lambda **o: figures.block(TransformerBlock(6, 2, 14), **o),
    "patches": lambda **o: figures.patches(picture(), 7, 11, **o),
}


def parts(figure, gid):
    (ax,) = figure.axes
    return [patch for patch in ax.patches if patch.get_gid() == gid]


# What holds for all of them.


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_each_says_what_it_shows_in_both_languages(draw):
    english, spanish = figures.alternative(draw(language="en")), figures.alternative(draw(language="es"))
    assert len(english) > 60
    assert english != spanish
    assert not re.search("[{}]", english + spanish)
    assert draw()._repr_html_().startswith('<img alt="' + english[:20].replace("<", "&lt;"))
    with pytest.raises(ValueError, match="language is 'de'"):
        draw(language="de")


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_each_is_saved_with_its_alternative_and_the_same_bytes(draw, tmp_path):
    torch.manual_seed(0)
    figure = draw()
    for ending in (".svg", ".pdf", ".png"):
        first = saved(figure, tmp_path, ending)
        assert first == saved(figure, tmp_path, ending), ending
    svg = (tmp_path / "x.svg").read_text()
    assert "<title>" + figures.alternative(figure)[:20] in svg
    assert set(texts_in(svg)) >= set(said(figure)[:3]), "text stays text"
    assert b"Description" in (tmp_path / "x.png").read_bytes()


def test_what_stands_in_an_alternative_cannot_leave_it():
    figure = figures.temperatures(['"><script>', "</svg>"], [1, 0])
    assert '"><script>' in figures.alternative(figure)
    shown = figure._repr_html_()
    assert "<script>" not in shown
    assert shown.count(">") == 1


def test_a_figure_of_somebody_else_has_none():
    assert figures.alternative(Figure()) == ""
    assert isinstance(figures.map(made()), Picture), "a notebook shows the other figures too"


def test_the_other_figures_have_theirs():
    scene = made(3, 3, [CAUSAL])
    told = (
        "Table of weights: each row looks, each column is looked at. r0 looks at c0: 1.00 and may not look at"
    )
    assert figures.alternative(figures.map(scene)).startswith(told)
    assert figures.alternative(figures.rows(scene, 0)).startswith(told)
    assert "r0 looks most at c" in figures.alternative(figures.map(made(5, 7)))
    assert "17 rows that look at 3" in figures.alternative(figures.map(made(17, 3)))
    assert "2 small tables" in figures.alternative(figures.heads([scene] * 2, titles=["a", "b"]))
    tiles = figures.tile_map(torch.rand(3, 5), row_span=7, column_span=11)
    assert "a tile of 7 × 11" in figures.alternative(tiles)


# Temperature.


def test_the_bars_are_the_softmax_at_each_temperature():
    figure = figures.temperatures(WORDS, SCORES, [0.25, 4])
    bars = [bar.get_width() for bar in parts(figure, "bar")]
    for k, temperature in enumerate((0.25, 4)):
        weights = torch.softmax(torch.tensor(SCORES, dtype=torch.float64) / temperature, 0)
        drawn = torch.tensor(bars[4 * k : 4 * k + 4], dtype=torch.float64)
        assert torch.allclose(drawn / drawn.sum(), weights, atol=1e-12)
    assert sum(bars[:4]) == pytest.approx(sum(bars[4:])), "the same length is shared out each time"
    assert len({bar.get_x() for bar in parts(figure, "bar")}) == 2, "those of a column begin side by side"
    assert "T = 4: plata 34\u202f%, sacó 27\u202f%, Ana 23\u202f%, del 16\u202f%" in figures.alternative(
        figure
    )
    assert "<1\u202f%" in said(figure), "a weight that is there is not said to be none"
    assert "T = 0,25" in said(figures.temperatures(WORDS, SCORES, language="es"))


@pytest.mark.parametrize(
    ("words", "scores", "temperatures"),
    [
        *((["a"], [1], [1]), (["a", "b"], [1], [1]), (["a", "b"], [1, 2], []), (["a", "b"], [1, 2], [0])),
        *((["a", "b"], [1, np.inf], [1]), (["a", "b"], [1, 2], [np.nan])),
    ],
)
def test_what_no_bars_can_be_drawn_of_is_refused(words, scores, temperatures):
    with pytest.raises(ValueError, match="expected"):
        figures.temperatures(words, scores, temperatures)


# Tables with their numbers.


def test_the_causal_table_has_its_numbers_and_no_future():
    torch.manual_seed(1)
    words = ["Ana", "sacó", "plata", "del", "banco"]
    scene = figures_scene(words, torch.randn(5, 8), torch.randn(5, 8), [CAUSAL])
    figure = figures.numbers(scene)
    assert len(parts(figure, "cell")) == 15, "the future has not even a cell"
    weights = scene.weights()
    numbers = [text for text in said(figure) if re.fullmatch(r"\d\.\d\d", text)]
    assert numbers == [f"{weights[i, j]:.2f}" for i in range(5) for j in range(i + 1)]
    told = figures.alternative(figure)
    assert "Ana looks at Ana: 1.00 and may not look at sacó, plata, del, banco; sacó looks" in told
    assert "0,53" in said(figures.numbers(scene, language="es"))


def test_places_frame_whom_each_row_looks_at_most():
    scene = made(list("8339"), list("8339"))
    figure = figures.places(scene)
    frames = [(frame.get_y(), frame.get_x()) for frame in parts(figure, "most")]
    cells = [(cell.get_y() + 1.2, cell.get_x() + 1.2) for cell in parts(figure, "cell")]
    best = scene.weights().argmax(1).tolist()
    assert frames == [pytest.approx(cells[4 * i + j]) for i, j in enumerate(best)]
    assert f"3 at place 2 looks most at {scene.columns[best[2]]} at place {best[2]}: " in figures.alternative(
        figure
    )
    assert [text for text in said(figure) if text in "8 3 9"].count("3") == 2 * 2 + 2, (
        "two a side, two places"
    )


def test_a_row_that_sees_nobody_and_a_weight_too_small_are_told_apart():
    scene = made(5, 3, [CAUSAL])
    figure = figures.numbers(scene)
    assert "r0 may look at nobody; r1 may look at nobody; r2 looks at c0: 1.00" in figures.alternative(figure)
    figure = figures.numbers(figures_scene(["a"], torch.tensor([[9.0]]), torch.tensor([[1.0], [-1.0]])))
    (ax,) = figure.axes
    assert len(ax.lines) == 1, "a dot"
    assert "0.00" not in said(figure)


def test_numbers_can_be_read_on_white_and_on_ink():
    figure = figures.numbers(figures_scene(["a"], torch.tensor([[3.0]]), torch.tensor([[1.0], [0.0]])))
    colours = {t.get_text(): t.get_color() for t in figure.axes[0].texts}
    assert colours["0.95"] == "white"
    assert colours["0.05"] == "black"


def test_a_table_that_nobody_could_read_is_refused():
    with pytest.raises(ValueError, match=r"17 × 3; expected at most 16 × 16: draw mirada\.figures\.map"):
        figures.numbers(made(17, 3))


def figures_scene(words, query, key, masks=()):
    from mirada import Scene

    columns = words if len(key) == len(words) else [f"c{j}" for j in range(len(key))]
    return Scene(words, columns, query, key, masks=masks)


# Positions.


def test_the_bar_code_is_the_table_of_positions():
    figure = figures.sinusoids(11, 6)
    (image,) = figure.axes[0].images
    assert np.array_equal(image.get_array(), sinusoidal_positions(11, 6).double().numpy())
    assert image.get_clim() == (-1, 1)


@pytest.mark.parametrize("column", range(6))
def test_a_column_repeats_itself_after_its_period(column):
    turn = period(column, 6)
    angle = 3.0 / 10000 ** (column // 2 * 2 / 6)
    again = (3.0 + turn) / 10000 ** (column // 2 * 2 / 6)
    assert np.sin(again) == pytest.approx(np.sin(angle))
    assert again - angle == pytest.approx(2 * np.pi)


# The block.


def test_the_drawing_counts_the_parts_of_the_block_it_is_given():
    texts = said(figures.block(TransformerBlock(64, 4, 256)))
    numbers = [text for text in texts if re.fullmatch("[\\d\u202f]+", text)]
    assert numbers == ["128", "16\u202f640", "128", "33\u202f088", "49\u202f984"]


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_every_way_past_a_part_ends_in_a_sum(first, cross):
    block = TransformerBlock(6, 2, 14, BlockConfig(norm_first=first, cross_attention=cross))
    figure = figures.block(block)
    (ax,) = figure.axes
    boxes = parts(figure, "part")
    assert len(boxes) == 4 + 2 * cross
    assert len([line for line in ax.lines if line.get_gid() == "sum"]) == 2 + cross
    # Pre-norm leaves the straight way free: no box stands on it.
    (straight,) = {line.get_xdata()[0] for line in ax.lines if line.get_gid() == "sum"}
    on_it = [box for box in boxes if box.get_x() < straight]
    assert len(on_it) == (0 if first else 2 + cross)
    assert ("Cross-attention" in said(figure)) == cross


# Patches.


def test_patch_11_is_row_1_column_1():
    image = picture(channels=3)
    figure = figures.patches(image, 7, 11, language="es")
    (ax,) = figure.axes
    shown, strip = ax.images
    assert np.allclose(shown.get_array(), image.permute(1, 2, 0))
    assert np.allclose(strip.get_array()[0], image[:, 7:14, 7:14].flatten())
    (frame,) = parts(figure, "chosen")
    left, right, bottom, top = shown.get_extent()
    assert (frame.get_x() - left) / (right - left) == pytest.approx(1 / 10), "the second of ten columns"
    assert (frame.get_y() - top) / (bottom - top) == pytest.approx(1 / 6), "the second of six rows"
    number = next(text for text in ax.texts if text.get_text() == "11")
    assert 0 < number.get_position()[0] - frame.get_x() < 7
    assert 0 < number.get_position()[1] - frame.get_y() < 7
    assert [t for t in said(figure) if t.isdigit()] == [str(i) for i in range(60)]
    assert "parche 11 (fila 1, columna 1): 147 números" in figures.alternative(figure)


def test_a_grey_picture_without_a_chosen_patch():
    figure = figures.patches(picture(2, 3, channels=1), 7)
    (ax,) = figure.axes
    assert len(ax.images) == 1
    assert parts(figure, "chosen") == []
    assert pixels(figure).shape[2] == 3


@pytest.mark.parametrize(
    ("image", "size", "match"),
    [
        (torch.rand(7, 14), 7, "shape"),
        (torch.rand(3, 14, 15), 7, "divisor"),
        (torch.rand(3, 14, 14) * 255, 7, "divide whole ones by 255"),
        (torch.rand(3, 42, 42), 2, "441 patches"),
    ],
)
def test_what_cannot_be_cut_is_refused(image, size, match):
    with pytest.raises(ValueError, match=match):
        figures.patches(image, size)


def test_a_patch_that_is_not_there_is_refused():
    with pytest.raises(IndexError, match="no patch 60; expected 0 to 59"):
        figures.patches(picture(), 7, 60)


def test_the_ground_is_white_on_a_dark_page_too():
    figure = figures.numbers(made(3, 3))
    assert np.allclose(pixels(figure)[0, 0], 1)
    assert figure.get_facecolor() == (1, 1, 1, 1)
