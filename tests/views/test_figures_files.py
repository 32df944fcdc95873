"""Figures as files: text stays text, bytes stay the same, and what cannot be drawn is refused."""

import base64
import io
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest
import torch
from figure_reading import CAUSAL, made, saved, texts_in
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from mirada.views import figures
from mirada.views.figure_parts import ink_scale
from mirada.views.figure_text import LONGEST, shortened
from mirada.views.scene import Scene

# Text that comes from outside.

HOSTILE = [
    "</script><b>",
    "$x_1$",
    "<s>",
    "__DATA__",
    "a\\b",
    "👩‍👩‍👧",
    "مرحبا",
    "银行",
    "_x",
    "&amp;",
    "e\u0301\u200d",
]


@pytest.mark.parametrize(
    "draw",
    [figures.map, lambda s: figures.rows(s, [0, 10]), lambda s: figures.heads([s] * 11, titles=HOSTILE)],
)
def test_hostile_text_is_text(draw, tmp_path):
    scene = made(HOSTILE, HOSTILE, axes=("$q$ & </svg>", "_k_"))
    texts = texts_in(saved(draw(scene), tmp_path, ".svg"))
    assert set(HOSTILE) <= set(texts)
    assert any("$q$ & </svg>" in text for text in texts)
    assert "_k_" in texts


def test_names_of_rows_in_a_legend_are_text_too(tmp_path):
    scene = made(rows=["_a", "$b$", "", "c", "d"])
    texts = texts_in(saved(figures.rows(scene, [0, 1, 2]), tmp_path, ".svg"))
    assert {"0  _a", "1  $b$", "2"} <= {text.strip() for text in texts}


def test_what_one_line_cannot_hold_is_shown_by_its_escape(tmp_path):
    broken = ["\n", "\0", "\ud83d", "\u2028", "\ufffe", "\t"]
    scene = made(broken, broken)
    texts = texts_in(saved(figures.map(scene, title="a\nb"), tmp_path, ".svg"))
    assert {r"\n", r"\x00", r"\ud83d", r"\u2028", r"\ufffe", r"\t", r"a\nb"} <= set(texts)


def test_a_long_word_is_shortened_and_says_so(tmp_path):
    scene = made(["w" * 300, "x"], 3)
    assert "w" * (LONGEST - 1) + "…" in texts_in(saved(figures.map(scene), tmp_path, ".svg"))
    assert shortened("a" * (LONGEST - 2) + "👩‍👩‍👧") == "a" * (LONGEST - 2) + "…", "no half of a joined sign"


@given(st.text(st.characters(), max_size=60))
def test_any_text_becomes_a_line_that_xml_can_hold(text):
    short = shortened(text)
    assert len(short) <= LONGEST
    assert "".join(ET.fromstring(ET.tostring(_node(short))).itertext()) == short
    assert not {"\n", "\r", "\t"} & set(short)
    if text.isprintable() and len(text) <= LONGEST:
        assert short == text


def _node(text):
    node = ET.Element("t")
    node.text = text
    return node


def test_glyphs_that_no_font_has_are_no_error(tmp_path):
    scene = made(["\U0001fae8", "𒀀"], 2)  # warnings are errors here
    for ending in figures.ENDINGS:
        saved(figures.map(scene), tmp_path, ending)


# Files.


@pytest.mark.parametrize("ending", figures.ENDINGS)
@pytest.mark.parametrize(
    "draw",
    [figures.map, lambda s: figures.heads([s, s]), lambda s: figures.rows(s, [0, 1])],
    ids=["map", "heads", "rows"],
)
def test_the_same_figure_has_the_same_bytes(draw, ending, tmp_path):
    scene = made(masks=[CAUSAL])
    figure = draw(scene)
    first = saved(figure, tmp_path, ending)
    assert first == saved(figure, tmp_path, ending)
    assert first == saved(draw(scene), tmp_path, ending)
    assert len(first) > 1000


def test_text_in_a_pdf_is_text(tmp_path):
    assert b"/Type /Font" in saved(figures.map(made()), tmp_path, ".pdf")


def test_a_large_table_is_one_image_in_an_svg_cell_by_cell(tmp_path):
    scene = made(67, 71)
    root = ET.fromstring(saved(figures.map(scene), tmp_path, ".svg"))
    images = [
        node.get("{http://www.w3.org/1999/xlink}href")
        for node in root.iter("{http://www.w3.org/2000/svg}image")
    ]
    pictures = [imread(io.BytesIO(base64.b64decode(each.partition(",")[2]))) for each in images]
    (picture,) = [each for each in pictures if each.shape[:2] == (67, 71)]
    assert np.abs(picture[..., :3] - ink_scale()(scene.weights().numpy())[..., :3]).max() <= 1 / 255


def test_every_cell_has_a_dot_of_its_own():
    figure = figures.map(made(2, 1999))
    figure.draw_without_rendering()
    assert figure.axes[0].get_window_extent().width >= 1999 * 0.9


@pytest.mark.parametrize("name", ["x.jpg", "x", "svg", "x.eps"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r"expected one of \.svg, \.pdf, \.png"):
        figures.save(figures.map(made()), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_matplotlibs_is_changed(tmp_path):
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 31, "axes.grid": True, "svg.fonttype": "path"}):
        strange = dict(matplotlib.rcParams)
        figure = figures.map(made())
        saved(figure, tmp_path, ".svg")
        assert dict(matplotlib.rcParams) == strange
        assert {label.get_fontsize() for label in figure.axes[0].get_yticklabels()} == {9.0}
    with pytest.raises(ValueError, match="mean has shape"):
        figures.tile_map(torch.zeros(3), row_span=1, column_span=1)
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == []


# What is refused.


def test_a_table_too_large_to_be_drawn_says_how_large_and_what_to_draw():
    scene = Scene(["r"] * 2003, ["c"] * 1999, [[0]] * 2003, [[0]] * 1999)
    for draw in (lambda: figures.map(scene), lambda: figures.heads([made(), scene])):
        with pytest.raises(ValueError, match=r"2,003 × 1,999, 4,003,997 cells; .* 4,000,000: .*tile_map"):
            draw()
    (ax,) = figures.rows(scene, [2002]).axes
    assert ax.patches[0].get_data().values == pytest.approx([1 / 1999] * 1999)


@pytest.mark.parametrize(
    ("draw", "error", "said"),
    [
        (lambda s: figures.map(s, language="fr"), ValueError, "language is 'fr'; expected one of es, en"),
        (lambda s: figures.heads([]), ValueError, "scenes has 0 of them; expected 1 to 144"),
        (lambda s: figures.heads([s] * 145), ValueError, "scenes has 145"),
        (lambda s: figures.heads([s], titles=["a", "b"]), ValueError, "titles has 2 of them; expected 1"),
        (lambda s: figures.heads([s], columns=0), ValueError, "columns is 0"),
        (lambda s: figures.rows(s, []), ValueError, "rows has 0 of them; expected 1 to 6"),
        (lambda s: figures.rows(s, [0] * 7), ValueError, "rows has 7"),
        (lambda s: figures.rows(s, [5]), IndexError, "no row 5; the scene has 5, from 0 to 4"),
        (lambda s: figures.rows(s, -6), IndexError, "no row -6"),
        (lambda s: figures.tile_map(torch.zeros(0, 3), row_span=1, column_span=1), ValueError, r"\(0, 3\)"),
        (
            lambda s: figures.tile_map(torch.zeros(1, 1), row_span=0, column_span=1),
            ValueError,
            "row_span is 0",
        ),
        (lambda s: figures.tile_map(-torch.ones(1, 1), row_span=1, column_span=1), ValueError, "below 0"),
        (lambda s: figures.tile_map(torch.ones(1, 1) / 0, row_span=1, column_span=1), ValueError, "infinite"),
        (
            lambda s: figures.tile_map(torch.ones(2003, 1999), row_span=1, column_span=1),
            ValueError,
            "4,003,997",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(draw, error, said):
    with pytest.raises(error, match=said):
        draw(made())


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "mirada\[figures\]"'):
        figures.map(made())


def test_the_import_is_quick():
    code = "import sys, mirada.views.figures; print({'torch', 'numpy', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "set()\n"
