"""A gaze and its looks as text that a person can read."""

from typing import TYPE_CHECKING

from mirada.watching.scenes import names_of

if TYPE_CHECKING:
    from mirada.watching.gaze import Gaze
    from mirada.watching.look import Look

HEADINGS: tuple[str, ...] = ("", "module", "kind", "heads", "rows × keys", "batch", "kernel", "kept", "error")
LIMIT = 200  # lines of a table


def table(gaze: "Gaze") -> str:
    """One line for each look of the last run."""
    if not len(gaze):
        return f"A gaze at {gaze.model}: nothing was seen."
    lines: list[tuple[str, ...]] = [HEADINGS]
    looks = list(gaze)
    smallest = min(look.batch for look in looks)
    for i, look in enumerate(looks[:LIMIT]):
        lines.append((f"[{i}]", look.path or "(the model itself)", look.kind, *cells(look, smallest)))
    rest = [f"… and {len(looks) - LIMIT} more"] if len(looks) > LIMIT else []
    runs = f", {len(gaze.runs)} runs, of which this is the last" if len(gaze.runs) > 1 else ""
    verdict = {
        True: "proved: these weights give what the model made of them",
        None: "not everything could be compared with what the model made of it",
        False: "NOT ALL PROVED: do not trust what is marked",
    }[gaze.proved]
    head = f"A gaze at {gaze.model}: {count(len(looks), 'look')}{runs}, {size(gaze.memory)} kept."
    error = "" if gaze.error is None else f" Largest error {gaze.error:.1e}."
    unseen = [f"Not seen: {path or '(the model itself)'}: {why}" for path, why in gaze.unseen[:8]]
    if len(gaze.unseen) > 8:
        unseen.append(f"… and {len(gaze.unseen) - 8} more in gaze.unseen")
    return "\n".join([head, *aligned(lines), *rest, f"{verdict[0].upper()}{verdict[1:]}.{error}", *unseen])


def cells(look: "Look", smallest: int) -> tuple[str, ...]:
    heads = str(len(look.heads))
    if look.num_kv_heads not in (1, len(look.heads)) or (look.num_kv_heads == 1 < len(look.heads)):
        heads += f" over {look.num_kv_heads}"
    steps = f" in {look.steps} steps" if look.steps > 1 else ""
    # In windows: each of them is a sentence of its own, and its table is not a piece of a larger one.
    batch = str(look.batch)
    if "window" in look.where.lower() or "swin" in look.where.lower():
        batch += " windows"
    elif look.batch > smallest:
        batch += f" ({smallest} × {look.batch / smallest:g})"
    error = "—" if look.error is None else f"{look.error:.1e}"
    if look.proved is False:
        error += " NOT PROVED"
    training = ", training" if look.training else ""
    return (
        heads,
        f"{look.rows:,} × {look.keys:,}{steps}",
        batch,
        look.kernel + training,
        size(look.memory),
        error,
    )


def describe(look: "Look") -> str:
    """One look in a few lines: what it is, what its mask says, whether it is proved."""
    masks = dict.fromkeys(
        "everybody may look everywhere" if c.mask is None else repr(c.mask) for c in look.calls
    )
    proof = {True: "proved", None: "not compared", False: "NOT PROVED"}[look.proved]
    cell = dict(zip(HEADINGS[3:], cells(look, look.batch), strict=True))
    lines = [
        f"{look.path or '(the model itself)'}, {look.kind}-attention, {cell['kernel']}",
        f"{cell['heads']} heads of {look.head_dim}, {cell['rows × keys']} (rows look, keys are looked at), "
        f"batch {cell['batch']}",
        f"mask: {', '.join(list(masks)[:3])}{' …' if len(masks) > 3 else ''}",
        f"{proof}, error {cell['error']}" + (f": {look.note}" if look.note else ""),
    ]
    return "\n".join(lines)


def say_row(look: "Look", row: int, head: int, sample: int, k: int) -> str:
    """Masked, absent and tiny are told apart: a weight that is not 0 is never written as 0."""
    keys, weights = (x[sample, 0, 0].tolist() for x in look.top(k, head, row))
    states = look.states(head, row)[sample, 0, 0]
    names = names_of(look)
    position = look.positions[row]
    name = names[position] if look.kind == "self" and position < len(names) else str(position)
    seen = [f"{names[key]!r} {share(weight)}" for key, weight in zip(keys, weights, strict=True) if key >= 0]
    rest = int((states == 0).sum()) - len(seen)
    counts = [
        f"{rest} more" if rest > 0 else "",
        f"{int((states == 1).sum())} masked" if (states == 1).any() else "",
        f"{int((states == 2).sum())} not there in its step" if (states == 2).any() else "",
    ]
    found = ", ".join([*seen, *filter(None, counts)])
    return f"Row {row}, {name!r}, head {head}: " + (found if seen else f"looks at nobody; {found}")


def share(weight: float) -> str:
    if weight == 0:
        return "0 (too small for float32)"
    return f"{100 * weight:.1f} %" if weight >= 0.0005 else "under 0.1 %"


def aligned(lines: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def size(bytes: int) -> str:
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if bytes >= step:
            return f"{bytes / step:.3g} {unit}"
    return f"{bytes} bytes"
