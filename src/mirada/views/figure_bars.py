"""The picture of temperature: the same scores, shared out by softmax at several temperatures."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_layout as layout
from mirada.views import figure_text as text
from mirada.views.figure_parts import MASKED
from mirada.views.figure_text import INK, INK2
from mirada.views.terminal import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_WORDS, MOST_PANELS = 12, 6
ROW, BAR, GAP, NUMBER = 19.0, 52.0, 20.0, 32.0  # points


def temperatures(
    words: Sequence[str],
    scores: Sequence[float],
    temperatures: Sequence[float] = (0.25, 0.5, 1, 4),
    *,
    language: Language = "en",
) -> "Figure":
    """softmax(scores / T) as bars, a column a temperature: low ones focus, high ones spread.

    Args:
        words: 2 to 12, one a line, in this order at every temperature.
        scores: one a word.
        temperatures: 1 to 6.
        language: "en" or "es".

    Raises:
        ValueError: other counts, a temperature that is not positive and finite, a score that is not finite,
            or an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    if not 2 <= len(words) <= MOST_WORDS or len(scores) != len(words):
        raise ValueError(
            f"there are {len(words)} words and {len(scores)} scores; "
            f"expected 2 to {MOST_WORDS}, as many of each"
        )
    if not 1 <= len(temperatures) <= MOST_PANELS or not all(0 < t < math.inf for t in temperatures):
        raise ValueError(f"temperatures is {temperatures}; expected 1 to {MOST_PANELS}, positive and finite")
    if not all(math.isfinite(score) for score in scores):
        raise ValueError(f"scores is {scores}; expected finite numbers")
    with text.drawing(words):
        left, above = 14 + text.width_of(words) * text.LARGEST, 30.0
        panel = BAR + NUMBER
        width = left + len(temperatures) * (panel + GAP)
        height = above + ROW * len(words) + 8
        made, ax = layout.canvas(width, height)
        for i, word in enumerate(words):
            style = {"ha": "right", "va": "center_baseline", "fontsize": 9.5}
            ax.text(left - 9, above + ROW * (i + 0.5), text.shortened(word), **style, **text.plain())
        said = []
        for k, temperature in enumerate(temperatures):
            start = left + k * (panel + GAP)
            stated = f"T = {text.number(temperature, language)}"
            ax.text(start, 15, stated, va="center", fontweight="bold", **text.plain())
            shares = softmax([score / temperature for score in scores])
            told = []
            for i, (word, share) in enumerate(zip(words, shares, strict=True)):
                y = above + ROW * (i + 0.5)
                most = share == max(shares)
                ax.barh(y, BAR, 11, left=start, color=MASKED["facecolor"], linewidth=0)  # all of it
                ax.barh(y, BAR * share, 11, left=start, color=INK, linewidth=0, gid="bar")
                rounded = share_of(share, language)
                style = {
                    "ha": "right",
                    "va": "center_baseline",
                    "fontsize": 8.5,
                    "color": INK if most else INK2,
                }
                ax.text(start + panel, y, rounded, **style, **text.plain())
                told.append(f"{word} {rounded}")
            said.append(f"{stated}: {', '.join(told)}")
        return made.told(say("page.figure_alt_temperatures", language, lines="; ".join(said)))


def softmax(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    return [power / sum(powers) for power in powers]


def share_of(weight: float, language: Language) -> str:
    """61 %, and <1 % for one that is there but would round to none."""
    return "<" + percent(0.01, language) if 0 < weight < 0.005 else percent(weight, language)
