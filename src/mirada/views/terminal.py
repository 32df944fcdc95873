"""Whom each position looks at, in a terminal: a row of shades, and in words whom it looks at most."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say

if TYPE_CHECKING:
    from mirada.watching.look import Look

SHADES, PLAIN = " ░▒▓█", " .:+#"  # from under 10 % to over 75 %; the second where a terminal knows only ASCII
STEPS = (0.1, 0.3, 0.5, 0.75)
MASKED, MASKED_PLAIN = "╱", "/"
WORDS = 30  # letters that the words beside the shades take
MOST = 32  # rows; of a longer look the last ones, which is where an answer stands


def written_look(
    look: "Look",
    head: int,
    tokens: Sequence[str],
    language: Language,
    *,
    width: int = 80,
    ascii: bool = False,
) -> list[str]:
    """The lines of one head of one sample.

    Args:
        tokens: names of the rows; those of the keys are the look's own.
        width: of the terminal, in letters: where the shades find no room, the words stand alone.
        ascii: without the letters that only a terminal of Unicode has.
    """
    rows = range(look.rows)[-MOST:]
    weights = look.weights(head, rows)[0, 0]
    masked = look.states(head, rows)[0, 0] == 1
    names = look.tokens if look.tokens is not None else [str(i) for i in range(look.keys)]
    keys, rows_named = [visible(name, ascii) for name in names], [visible(name, ascii) for name in tokens]
    best = weights.max(1)
    places = len(str(look.rows - 1))
    label = max(len(rows_named[row]) for row in rows)
    cell = max(map(len, keys))
    room = width - (places + label + 7) - WORDS
    gap = " " if room >= (cell + 1) * len(keys) else "" if cell == 1 and room >= len(keys) else None
    margin = " " * (places + label + 5)
    lines = [] if gap is None else [margin + gap.join(name.rjust(cell) for name in keys)]
    shades, hidden = (PLAIN, MASKED_PLAIN) if ascii else (SHADES, MASKED)
    for i, row in enumerate(rows):
        line = f"  {row:>{places}} {rows_named[row]:<{label}}  "
        if gap is not None:
            inks = [
                hidden if hide else shades[sum(weight >= step for step in STEPS)]
                for weight, hide in zip(weights[i].tolist(), masked[i].tolist(), strict=True)
            ]
            line += gap.join(ink * cell for ink in inks) + "   "
        key, share = int(best.indices[i]), float(best.values[i])
        said = {"name": keys[key], "place": key, "share": percent(share, language)}
        lines.append(line + (say("look.row", language, **said) if share else say("look.nobody", language)))
    if gap is not None:
        lines.append(margin + legend(bool(masked.any()), language, shades, hidden))
    return lines


def written_picture(
    look: "Look", head: int, grid: tuple[int, int], language: Language, *, ascii: bool = False
) -> list[str]:
    """Where [CLS], the first token of a picture, looks: its patches in their rows, the darkest most.

    Args:
        grid: rows and columns of patches.
        ascii: as `written_look`'s.
    """
    rows, columns = grid
    itself, *weights = look.weights(head, range(1))[0, 0, 0].tolist()
    shades = PLAIN if ascii else SHADES
    most = max(weights)
    inks = [shades[sum(weight >= step * most for step in STEPS)] * 2 for weight in weights]
    lines = ["  " + "".join(inks[row * columns : (row + 1) * columns]) for row in range(rows)]
    best = sorted(range(len(weights)), key=lambda patch: -weights[patch])[:3]
    told = [say("look.patch", language, number=i + 1, share=percent(weights[i], language)) for i in best]
    lines.append("  " + say("look.most", language, patches=", ".join(told), itself=percent(itself, language)))
    lines.append("  " + say("look.of_most", language) + " " + legend(False, language, shades, ""))
    return lines


def legend(masked: bool, language: Language, shades: str, hidden: str) -> str:
    parts = [f"{shade} {percent(step, language)}+" for shade, step in zip(shades[1:], STEPS, strict=True)]
    if masked:
        parts.append(f"{hidden} {say('page.figure_masked', language)}")
    return "   ".join(parts)


def visible(name: str, ascii: bool) -> str:
    """A token as one can see it: a space is ␣, a new line ↵, and what is not printed its escape."""
    signs = {} if ascii else {" ": "␣", "\n": "↵"}
    shown = "".join(signs.get(c, c if c.isprintable() else repr(c)[1:-1]) for c in name)
    return shown.encode("ascii", "backslashreplace").decode() if ascii else shown


def percent(share: float, language: Language, digits: int = 0) -> str:
    """96 %, with a no-break space, and a comma where the language has one."""
    text = f"{100 * share:.{digits}f}"
    # 99.96 % is not 100 %: what is rounded up to all of it, or down to none, would say more than is true.
    if share < 1 and float(text) == 100:
        text = f"{100 - 10**-digits:.{digits}f}"
    if digits:
        text = text.removesuffix("." + "0" * digits) if share in (0, 1) else text
    return (text.replace(".", ",") if language == "es" else text) + "\u202f%"


def decimal(number: float, language: Language) -> str:
    """Three digits that count: 0.00612."""
    text = f"{number:.3g}"
    return text.replace(".", ",") if language == "es" else text
