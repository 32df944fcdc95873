"""How maps came about: a line a head, a moment a column, each map what was given."""

import numpy as np
import pytest
import torch
from figure_reading import hatched, said, saved, table, texts_in

from mirada.views import figures


def maps(moments=3, heads=2, rows=5, columns=7):
    return torch.rand(moments, heads, rows, columns, generator=torch.Generator().manual_seed(0))


def test_lines_are_heads_and_columns_are_moments():
    given = maps()
    figure = figures.strip(given, titles=["step 1", "step 2", "step 3"], names=["head 0", "head 1"])
    drawn = figure.axes[:6]
    for place, ax in enumerate(drawn):
        head, moment = divmod(place, 3)
        found, limits = table(ax)
        assert np.abs(found.data - given[moment, head].numpy()).max() < 1e-6
        assert limits == (0, 1)
    assert [ax.get_title() for ax in drawn] == ["step 1", "step 2", "step 3", "", "", ""]
    assert [ax.get_ylabel() for ax in drawn] == ["head 0", "", "", "head 1", "", ""]
    lefts = [ax.get_position().x0 for ax in drawn]
    tops = [ax.get_position().y1 for ax in drawn]
    assert lefts[:3] == sorted(lefts[:3])
    assert lefts[0] == lefts[3]
    assert tops[0] == tops[2] > tops[3]


def test_it_says_who_looks_in_both_languages_and_in_words_of_its_own():
    assert {"looks (query)", "is looked at (key)", "weight, from 0 to 1"} <= set(
        said(figures.strip(maps(), titles="abc"))
    )
    assert {"mira (consulta)", "es mirada (clave)"} <= set(
        said(figures.strip(maps(), titles="abc", language="es"))
    )
    assert {"answer", "question"} <= set(
        said(figures.strip(maps(), titles="abc", axes=("answer", "question")))
    )


def test_what_is_masked_is_hatched():
    given = maps(rows=5, columns=5)
    above = torch.ones(5, 5, dtype=torch.bool).triu(1)
    given[..., above] = torch.nan
    figure = figures.strip(given, titles="abc")
    assert (hatched(figure.axes[4], 5, 5) == above.numpy()).all()
    assert "masked: may not look" in said(figure)


def test_the_same_maps_give_the_same_file_with_text_as_text(tmp_path):
    first, second = (saved(figures.strip(maps(), titles="abc"), tmp_path, ".svg") for _ in range(2))
    assert first == second
    assert {"a", "b", "c"} <= set(texts_in(first.decode()))


@pytest.mark.parametrize(
    ("given", "rest", "says"),
    [
        (maps()[0], {}, r"shape \(2, 5, 7\); expected \(moments, heads, rows, columns\)"),
        (maps(0), {"titles": []}, "1 to 144 maps"),
        (maps(29, 5), {}, "1 to 144 maps"),
        (maps() * 2, {}, "expected weights from 0 to 1"),
        (-maps(), {}, "below 0"),
        (maps(), {"titles": "ab"}, "titles has 2 of them; expected 3"),
        (maps(), {"names": "a"}, "names has 1 of them; expected 2"),
        (maps(), {"language": "fr"}, "language is 'fr'"),
    ],
)
def test_what_no_strip_can_be_made_of(given, rest, says):
    with pytest.raises(ValueError, match=says):
        figures.strip(given, **{"titles": "abc", **rest})
