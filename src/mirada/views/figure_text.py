"""How a figure writes: its settings and fonts, and text that comes from outside, drawn as it is."""

import math
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mirada.catalogue import LANGUAGES, Language

INK, INK2, EDGE = "#211C17", "#5A5248", "#8C8375"

LONGEST = 24  # signs of a label
SMALLEST = 6.0  # points of a letter that can be read
LARGEST = 9.0
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# DejaVu comes with matplotlib; these are asked for what it lacks, where they are installed. What none of them
# has is drawn by matplotlib as a box, and stays itself in an SVG, whose reader has fonts of its own.
FONT = "DejaVu Sans"
OTHERS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei"),
    *("PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Arial Unicode MS"),
    *("Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Armenian", "Noto Sans Ethiopic", "Noto Sans Thai"),
    *("Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Telugu", "Nirmala UI"),
    *("Noto Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Symbola"),
)


@contextmanager
def drawing(texts: Iterable[str]) -> Iterator[None]:
    """Our settings, whatever the caller's are, with fonts for these texts; the caller's again afterwards.

    Raises ImportError where matplotlib is missing.
    """
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            'mirada.figures needs matplotlib, which is not installed: pip install "mirada[figures]"',
            name="matplotlib",
        ) from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": _families("".join(texts)),
                "font.size": LARGEST,
                "axes.labelsize": LARGEST,
                "axes.titlesize": LARGEST + 1,
                "axes.edgecolor": EDGE,
                "axes.linewidth": 0.6,
                "axes.labelcolor": INK,
                "axes.titlecolor": INK,
                "text.color": INK,
                "xtick.color": EDGE,
                "ytick.color": EDGE,
                "xtick.labelcolor": INK2,
                "ytick.labelcolor": INK2,
                "hatch.linewidth": 0.5,
            }
        )
        yield


def _families(text: str) -> list[str]:
    from matplotlib.font_manager import findfont, fontManager, get_font

    known = get_font(findfont(FONT)).get_charmap()
    found = [FONT]
    if any(ord(sign) not in known for sign in text):
        installed = set(fontManager.get_font_names())
        found += [name for name in OTHERS if name in installed]
    return [*found, "sans-serif"]  # for a reader of SVG that has none of them


def check_language(language: str) -> None:
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}; expected one of {', '.join(LANGUAGES)}")


def plain() -> dict[str, Any]:
    """For every text: a $ is a $, and ticks that are made anew later keep our fonts."""
    import matplotlib

    return {"parse_math": False, "usetex": False, "fontfamily": matplotlib.rcParams["font.family"]}


def written(text: str) -> str:
    """The text so that one line, and XML, can hold it: what they cannot is shown by its escape.

    A line break becomes \\n, NUL \\x00, half of a surrogate pair \\ud83d, each in letters.
    """

    def sign(c: str) -> str:
        bad = unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or ord(c) & 0xFFFE == 0xFFFE
        return ascii(c)[1:-1] if bad else c

    return "".join(sign(c) for c in text)


def shortened(text: str, most: int = LONGEST) -> str:
    """At most so many signs, the last of them … where some are left out; never half of a joined sign."""
    text = written(text)
    if len(text) <= most:
        return text
    cut = most - 1
    while cut > 1 and (unicodedata.category(text[cut])[0] == "M" or "\u200d" in text[cut - 1 : cut + 1]):
        cut -= 1
    return text[:cut] + "…"


def width_of(names: Iterable[str]) -> float:
    """About how wide the widest label is, in heights of its letters."""
    return max(
        sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.62 for c in shortened(n)) for n in names
    )


def number(x: float, language: Language) -> str:
    """Three figures, powers of ten as they are printed, and the comma in Spanish."""
    figures, _, power = f"{x:.3g}".partition("e")
    figures = figures.replace(".", ",") if language == "es" else figures
    return figures + (" × 10" + str(int(power)).translate(RAISED) if power else "")


def fixed(x: float, language: Language, decimals: int = 2) -> str:
    """So many decimals, with the minus sign of printers, and the comma in Spanish."""
    figures = f"{x:.{decimals}f}"
    figures = figures.removeprefix("-") if float(figures) == 0 else figures.replace("-", "\u2212")
    return figures.replace(".", ",") if language == "es" else figures


def label_ticks(axis: Any, names: Sequence[str], pitch: float, **style: Any) -> bool:
    """Writes the names, `pitch` points apart, along an axis; too close, some of them with their position.

    True where some had to be left out.
    """
    step = 1 if pitch >= 1.15 * SMALLEST else _round(2.2 * SMALLEST / pitch)
    places = range(0, len(names), step)
    labels = [shortened(names[i]) for i in places]
    if step > 1:
        labels = [f"{i}  {label}" for i, label in zip(places, labels, strict=True)]
    size = min(LARGEST, 0.8 * pitch) if step == 1 else SMALLEST + 1
    axis.set_ticks(list(places), labels, fontsize=max(SMALLEST, size), **plain(), **style)
    axis.set_tick_params(length=0 if step == 1 else 2, width=0.6, pad=3)
    return step > 1


def count_ticks(axis: Any, tiles: int, span: int) -> None:
    """Writes positions of tokens, about six of them, along an axis of tiles of `span` tokens."""
    step = _round(tiles * span / 6)
    positions = range(0, tiles * span + 1, step)
    axis.set_ticks(
        [position / span - 0.5 for position in positions],
        [f"{position:,}".replace(",", "\u202f") for position in positions],
        fontsize=LARGEST - 1,
        **plain(),
    )
    axis.set_tick_params(length=2, width=0.6, pad=3)


def _round(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50 … that is not less."""
    ten = 10 ** max(math.floor(math.log10(least)), 0)
    return next(k * ten for k in (1, 2, 5, 10) if k * ten >= least)


@contextmanager
def writing() -> Iterator[None]:
    """The settings of a file: text as text, and nothing in it that changes from one time to the next."""
    import matplotlib

    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "mirada",
        "pdf.fonttype": 42,
        "savefig.dpi": "figure",
    }
    with matplotlib.rc_context(settings), quiet():
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """No warning of a glyph that no font has: it is shown as a box, and the documentation says so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        yield
