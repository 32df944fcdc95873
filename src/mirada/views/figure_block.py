"""A drawing of a transformer block: what its words go through, and the straight way past it."""

from typing import TYPE_CHECKING, Any

from mirada.catalogue import Language, say
from mirada.views import figure_layout as layout
from mirada.views import figure_text as text
from mirada.views.figure_parts import CORAL, MASKED
from mirada.views.figure_text import EDGE, INK, INK2

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mirada.layers.block import TransformerBlock

    Part = tuple[str, str, int]  # what it is, what is to be known of it, its parameters

STRAIGHT, LANE = 34.0, 62.0  # points: where the straight way runs, and where the boxes begin
BOX, TALL, GAP, NUMBERS = 190.0, 38.0, 15.0, 62.0
RIGHT = LANE + BOX + NUMBERS  # where the numbers end


def block(block: "TransformerBlock", *, language: Language = "en") -> "Figure":
    """A block as it is: its parts from top to bottom, their parameters, and the residual way beside them.

    Args:
        block: of words (batch, length, d_model); norm first or last, with or without cross-attention.
        language: "en" or "es".

    Raises:
        ValueError: an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    with text.drawing([]):
        detours = _detours(block, language)
        first = block.config.norm_first
        boxes = 2 * len(detours)
        height = 62 + boxes * (TALL + GAP) + len(detours) * 34 + 12
        made, ax = layout.canvas(RIGHT, height)
        right = {"ha": "right", "va": "center", **text.plain()}
        ax.text(RIGHT, 14, say("page.figure_block_parameters", language), color=INK2, **right)
        words = say("page.figure_block_words", language, width=block.d_model)
        ax.text(STRAIGHT - 14, 14, words, va="center", **text.plain())
        y = 24.0
        for detour in detours:
            y = (_before if first else _after)(ax, y, *detour, language)
        _arrow(ax, (STRAIGHT, y), (STRAIGHT, y + 26), CORAL, 2.6)
        total = sum(parameter.numel() for parameter in block.parameters())
        ax.text(STRAIGHT - 14, y + 38, words, va="center", **text.plain())
        _line(ax, (RIGHT - NUMBERS + 14, y + 28), (RIGHT, y + 28), EDGE, 0.8)
        ax.text(RIGHT, y + 38, _count(total), fontweight="bold", **right)
        ax.set_ylim(y + 48, 0)
        made.set_size_inches(made.get_figwidth(), (y + 48) / 72)
        order = "page.figure_alt_block_before" if first else "page.figure_alt_block_after"
        lines = "; ".join(
            say(order, language, norm=_said(norm, language), part=_said(part, language))
            for norm, part in detours
        )
        return made.told(
            say("page.figure_alt_block", language, words=words, lines=lines, total=_count(total))
        )


def _detours(block: "TransformerBlock", language: Language) -> list[tuple["Part", "Part"]]:
    """(norm, what it stands before or after), from the first to the last."""

    def part(name: str, about: str, module: Any) -> "Part":
        return name, about, sum(parameter.numel() for parameter in module.parameters())

    def norm(module: Any) -> "Part":
        name = {"layer": "LayerNorm", "rms": "RMSNorm"}[block.config.norm]
        return part(name, say("page.figure_block_norm", language), module)

    heads = say("page.figure_block_heads", language, count=block.num_heads)
    mlp = say("page.figure_block_mlp", language, width=block.d_model, inside=block.d_mlp)
    found = [(norm(block.norm1), part(say("page.figure_block_attention", language), heads, block.attention))]
    if block.config.cross_attention:
        name = say("page.figure_block_cross", language)
        outside = say("page.figure_block_outside", language, count=block.num_heads)
        found.append((norm(block.norm_cross), part(name, outside, block.cross_attention)))
    return [*found, (norm(block.norm2), part("MLP", mlp, block.mlp))]


def _before(ax: "Axes", y: float, norm: "Part", part: "Part", language: Language) -> float:
    """Norm and part both stand on the detour; the straight way is free. Where it goes on."""
    fork = y + 9
    top = fork + 12
    middle = LANE + BOX / 2
    second = top + TALL + GAP
    join = second + TALL + 19
    _line(ax, (STRAIGHT, y), (STRAIGHT, join - 8), CORAL, 2.6)
    ax.plot(STRAIGHT, fork, marker="o", markersize=5, color=CORAL)
    _line(ax, (STRAIGHT, fork), (middle, fork))
    _arrow(ax, (middle, fork), (middle, top))
    _box(ax, top, norm, language)
    _arrow(ax, (middle, top + TALL), (middle, second))
    _box(ax, second, part, language)
    _line(ax, (middle, second + TALL), (middle, join))
    _sum(ax, (middle, join), join)
    return join + 8


def _after(ax: "Axes", y: float, norm: "Part", part: "Part", language: Language) -> float:
    """The part stands on the detour, the norm on the way itself, behind the sum."""
    fork = y + 9
    top = fork + 12
    middle = LANE + BOX / 2
    join = top + TALL + 19
    second = join + 8 + GAP
    _line(ax, (STRAIGHT, y), (STRAIGHT, join - 8), CORAL, 2.6)
    ax.plot(STRAIGHT, fork, marker="o", markersize=5, color=CORAL)
    _line(ax, (STRAIGHT, fork), (middle, fork))
    _arrow(ax, (middle, fork), (middle, top))
    _box(ax, top, part, language)
    _line(ax, (middle, top + TALL), (middle, join))
    _sum(ax, (middle, join), join)
    _line(ax, (STRAIGHT, join + 8), (STRAIGHT, second), CORAL, 2.6)
    _box(ax, second, norm, language, STRAIGHT - 22)
    return second + TALL


def _sum(ax: "Axes", start: tuple[float, float], y: float) -> None:
    _arrow(ax, start, (STRAIGHT + 8, y))
    ring = {"markersize": 16, "markerfacecolor": "white", "markeredgecolor": CORAL, "markeredgewidth": 1.4}
    ax.plot(STRAIGHT, y, marker="o", gid="sum", **ring)
    ax.plot(STRAIGHT, y, marker="+", markersize=8, color=CORAL, markeredgewidth=1.6)


def _box(ax: "Axes", y: float, part: "Part", language: Language, x: float = LANE) -> None:
    from matplotlib.patches import FancyBboxPatch

    name, about, parameters = part
    right = LANE + BOX
    style = {
        "facecolor": MASKED["facecolor"],
        "edgecolor": EDGE,
        "linewidth": 0.8,
        "boxstyle": "round,pad=0,rounding_size=3",
    }
    ax.add_patch(FancyBboxPatch((x, y), right - x, TALL, **style, gid="part", zorder=3))
    lines = {"va": "center", "zorder": 4, **text.plain()}
    ax.text(x + 10, y + 13, name, color=INK, fontweight="bold", **lines)
    ax.text(x + 10, y + 27, about, color=INK2, fontsize=8, **lines)
    ax.text(RIGHT, y + TALL / 2, _count(parameters), color=INK2, ha="right", **lines)


def _line(ax: "Axes", start: tuple[float, float], end: tuple[float, float], colour=INK, width=1.0) -> None:
    ax.plot(*zip(start, end, strict=True), color=colour, linewidth=width, solid_capstyle="butt", zorder=1)


def _arrow(ax: "Axes", start: tuple[float, float], end: tuple[float, float], colour=INK, width=1.0) -> None:
    style = {"arrowstyle": f"-|>,head_width={0.16 + width * 0.05},head_length={0.34 + width * 0.08}"}
    line = {"color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 10}
    ax.annotate("", end, start, arrowprops={**style, **line}, zorder=2)


def _count(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


def _said(part: "Part", language: Language) -> str:
    name, about, parameters = part
    return say("page.figure_alt_part", language, name=name, about=about, count=_count(parameters))
