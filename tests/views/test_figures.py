"""Figures: what is drawn is what the scene says, and nothing in it is read as anything but text.

Which axis looks is written (transformer-explainer#19), the scale goes from 0 to 1 (transformer-explainer#31),
heads stand apart (bertviz#61), vectors can be had as SVG and PDF (bertviz#33), Arabic is shown (bertviz#77).
"""

import numpy as np
import pytest
import torch
from figure_reading import CAUSAL, MASKS, colour_of, hatched, made, pixels, said, table
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mirada.views import figures
from mirada.views.figure_data import only
from mirada.views.figure_parts import ink_scale
from mirada.views.figure_text import label_ticks, number
from mirada.views.scene import Scene

# The map.


@pytest.mark.parametrize("size", [(5, 7), (67, 71)], ids=["squares", "image"])
@pytest.mark.parametrize("masks", [[], [CAUSAL]], ids=["open", "causal"])
def test_the_map_shows_the_weights_of_the_scene_row_by_row(size, masks):
    scene = made(*size, masks=masks)
    (ax,) = figures.map(scene).axes
    drawn, limits = table(ax)
    assert np.abs(drawn.data - scene.weights().numpy()).max() <= 1e-6
    assert limits == (0, 1)
    assert ax.get_xlim() == (-0.5, size[1] - 0.5)
    assert ax.get_ylim() == (size[0] - 0.5, -0.5), "the first row is at the top"


def test_who_looks_is_on_y_and_who_is_looked_at_on_x():
    scene = made()
    (ax,) = figures.map(scene, title="layer 3").axes
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("looks (query)", "is looked at (key)")
    assert [t.get_text() for t in ax.get_yticklabels()] == list(scene.rows)
    assert [t.get_text() for t in ax.get_xticklabels()] == list(scene.columns)
    assert ax.get_title() == "layer 3"
    (ax,) = figures.map(made(axes=("decoder", "encoder"))).axes
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("decoder", "encoder")


def test_the_legend_says_the_scale_in_both_languages():
    assert {"weight, from 0 to 1", "0", "0.5", "1"} <= set(said(figures.map(made())))
    spanish = said(figures.map(made(masks=[CAUSAL]), language="es"))
    assert {"peso, de 0 a 1", "0,5", "mira (consulta)", "es mirada (clave)"} <= set(spanish)
    assert {"tapada: no puede mirar"} <= set(spanish)


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_what_the_mask_hides_is_hatched_and_nothing_else(masks):
    scene = made(masks=masks)
    mask = scene.mask()
    hidden = torch.zeros(5, 7, dtype=torch.bool)
    if mask is not None:
        found = mask.to_tensor(1, 1, 5, 7)[0, 0]
        hidden = ~found if found.dtype == torch.bool else found == -torch.inf
    figure = figures.map(scene)
    (ax,) = figure.axes
    drawn, _ = table(ax)
    assert (np.ma.getmaskarray(drawn) == hidden.numpy()).all()
    assert (hatched(ax, 5, 7) == hidden.numpy()).all()
    assert ("masked: may not look" in said(figure)) == bool(hidden.any())


def test_a_weight_too_small_to_be_seen_is_not_masked():
    scene = Scene(
        ["a"], ["x", "y"], [[1]], [[0], [900]], masks=[{"kind": "padding", "length": 2, "side": "left"}]
    )
    assert scene.weights()[0, 0] == 0
    figure = figures.map(scene)
    (ax,) = figure.axes
    assert not np.ma.getmaskarray(table(ax)[0]).any()
    assert not hatched(ax, 1, 2).any()
    assert np.allclose(colour_of(figure, ax, 0, 0), 1), "weight 0 is white"
    assert np.allclose(colour_of(figure, ax, 0, 1), to_rgb("#211C17"), atol=0.01), "weight 1 is ink"


def test_rows_that_may_look_at_nobody_are_marked():
    scene = made(7, 5, masks=[CAUSAL])  # the rows are the last of the columns: the first two come before all
    figure = figures.map(scene)
    (ax,) = figure.axes
    (marks,) = [line for line in ax.lines if line.get_gid() == "nobody"]
    assert list(marks.get_ydata()) == [0, 1]
    assert "may look at nobody" in said(figure)
    assert "may look at nobody" not in said(figures.map(made(masks=[CAUSAL])))


def test_the_scale_is_even_in_lightness_and_so_in_grey_print():
    colours = ink_scale()(np.linspace(0, 1, 11))[:, :3]
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    lightness = 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16
    assert lightness[0] == pytest.approx(100, abs=0.1)
    assert (-np.diff(lightness)).min() > 7
    assert (-np.diff(lightness)).max() < 11


def test_a_scene_of_many_tokens_shows_some_with_their_positions():
    scene = made(3, [f"word{j}" for j in range(211)])
    (ax,) = figures.map(scene).axes
    labels = [t.get_text() for t in ax.get_xticklabels()]
    assert labels[:3] == ["0  word0", "10  word10", "20  word20"]
    assert list(ax.get_xticks()) == list(range(0, 211, 10))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["r0", "r1", "r2"]
    assert ax.get_xlabel() == "is looked at (key), position"
    assert ax.get_ylabel() == "looks (query)"


@pytest.mark.parametrize("pitch", [30, 7, 6.8, 3.1, 0.9, 0.31])
@pytest.mark.parametrize("count", [1, 67, 211])
def test_labels_never_stand_closer_than_they_can_be_read(count, pitch):
    axis = Figure().add_subplot().xaxis
    thinned = label_ticks(axis, ["w"] * count, pitch)
    places = axis.get_ticklocs()
    assert places[0] == 0
    assert len(places) == count or thinned
    if len(places) > 1:
        assert (places[1] - places[0]) * pitch >= 6.5


# Axes of the caller's.


def test_it_draws_into_given_axes():
    figure = Figure((7, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    scene = made()
    assert figures.map(scene, ax=left) is figure
    assert figures.rows(scene, [4], ax=right) is figure
    assert np.abs(table(left)[0] - scene.weights().numpy()).max() <= 1e-6
    assert len(right.patches) == 7
    assert figure.axes == [left, right]
    pixels(figure)


# Heads.


def test_heads_of_any_size_stand_in_one_scale():
    scenes = [made(3, 7), made(7, 3, masks=[CAUSAL]), made(1, 11), made(71, 73), made(2, 2)]
    figure = figures.heads(scenes, titles=list("abcde"), columns=3)
    maps = figure.axes[:5]
    for ax, scene, title in zip(maps, scenes, "abcde", strict=True):
        drawn, limits = table(ax)
        assert np.abs(drawn.data - scene.weights().numpy()).max() <= 1e-6
        assert limits == (0, 1)
        assert ax.get_title() == title
    assert (hatched(maps[1], 7, 3) == (scenes[1].weights() == 0).numpy()).all()
    assert figure.get_supylabel() == "looks (query)"
    assert figure.get_suptitle() == "is looked at (key)"
    for once in ("weight, from 0 to 1", "masked: may not look", "may look at nobody"):
        assert said(figure).count(once) == 1
    tops = [round(ax.get_position(original=True).y1, 3) for ax in maps]
    assert tops[0] == tops[1] == tops[2] > tops[3] == tops[4], "three side by side"
    bounds = figure.bbox
    assert all(bounds.containsx(x) for ax in maps for x in ax.get_window_extent().intervalx)


@pytest.mark.parametrize(("count", "across"), [(1, 1), (3, 3), (12, 4), (30, 6)])
def test_the_grid_of_heads_is_as_wide_as_it_is_high(count, across):
    maps = figures.heads([made(2, 3)] * count).axes[:count]
    tops = [round(ax.get_position(original=True).y1, 3) for ax in maps]
    assert tops.count(tops[0]) == across
    assert [ax.get_title() for ax in maps] == [str(i) for i in range(count)]


def test_heads_with_other_axes_are_named_in_general():
    scenes = [made(axes=("a", "b")), made(axes=("c", "d"))]
    assert figures.heads(scenes).get_supylabel() == "looks (query)"
    assert figures.heads(scenes[:1]).get_supylabel() == "a"


# Rows.


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_rows_alone_look_as_they_do_in_the_whole_table(masks):
    scene = made(masks=masks, temperature=0.7, scale=0.9)
    assert torch.allclose(only(scene, [4, 0, 2]).weights(), scene.weights()[[4, 0, 2]], atol=1e-12)


def test_few_weights_are_bars():
    scene = made(masks=[CAUSAL])
    figure = figures.rows(scene, [4, -5])
    (ax,) = figure.axes
    bars = [patch for patch in ax.patches if patch.get_gid() != "masked"]
    weights = scene.weights()
    assert [bar.get_height() for bar in bars] == pytest.approx(
        [*weights[4].tolist(), *weights[0, :3].tolist()]
    )
    assert [round(bar.get_center()[0]) for bar in bars] == [*range(7), *range(3)], "none where it is masked"
    assert ax.get_ylim() == (0, 1)
    assert ax.get_ylabel() == "weight, from 0 to 1"
    assert ax.get_xlabel() == "is looked at (key)"
    assert [t.get_text() for t in ax.get_xticklabels()] == list(scene.columns)
    assert {"looks (query)", "4  r4", "0  r0", "masked: may not look"} <= set(said(ax.get_legend()))
    assert (hatched(ax, 2, 7) == [[False] * 7, [False] * 3 + [True] * 4]).all()


def test_many_weights_are_steps_that_stop_where_they_are_masked():
    scene = made(31, 37, masks=[CAUSAL])
    (ax,) = figures.rows(scene, [30, 10], language="es").axes
    steps = [patch for patch in ax.patches if hasattr(patch, "get_data")]
    for step, row in zip(steps, (30, 10), strict=True):
        drawn = step.get_data().values
        shown = slice(0, row + 7)
        assert drawn[shown] == pytest.approx(scene.weights()[row, shown].tolist())
        assert np.isnan(drawn[row + 7 :]).all()
        assert step.get_data().edges[0] == -0.5
    assert ax.get_ylabel() == "peso, de 0 a 1"
    assert "mira (consulta)" in said(ax.get_legend())


def test_a_row_that_may_look_at_nobody_says_so():
    scene = made(7, 5, masks=[CAUSAL])
    (ax,) = figures.rows(scene, 1).axes
    assert "1  r1 (may look at nobody)" in said(ax.get_legend())
    assert hatched(ax, 1, 5).all()


# The map of a long text.


def test_a_tile_map_has_a_scale_of_its_own():
    mean = torch.rand(5, 11) / 1000
    mean[0, 3:] = torch.nan
    figure = figures.tile_map(mean, row_span=64, column_span=32)
    (ax,) = figure.axes
    drawn, limits = table(ax)
    most = float(mean.nan_to_num().max())
    assert limits == (0, pytest.approx(most))
    assert np.nanmax(np.abs(drawn.data - mean.numpy())) <= 1e-9
    assert (hatched(ax, 5, 11) == mean.isnan().numpy()).all()
    shown = number(most, "en")
    assert f"mean weight in a tile of 64 × 32, from 0 to {shown}" in said(figure)
    assert {"0", shown} <= set(said(figure.axes[0].child_axes[0]))
    assert ax.get_ylabel() == "looks (query), position"
    places = dict(zip(ax.get_yticks(), [t.get_text() for t in ax.get_yticklabels()], strict=True))
    assert places[100 / 64 - 0.5] == "100", "positions are counted in tokens, from the tile's upper edge"


def test_tiles_that_nobody_looks_at_are_white():
    (ax,) = figures.tile_map(torch.zeros(2, 3), row_span=7, column_span=5, axes=("a", "b")).axes
    assert table(ax)[1] == (0, 1)
    assert ax.get_xlabel() == "b, position"


@pytest.mark.parametrize(
    ("x", "english", "spanish"),
    [(0.5, "0.5", "0,5"), (1.0, "1", "1"), (0.00001234, "1.23 × 10⁻⁵", "1,23 × 10⁻⁵"), (0, "0", "0")],
)
def test_numbers_are_written_as_they_are_printed(x, english, spanish):
    assert (number(x, "en"), number(x, "es")) == (english, spanish)
