"""docs/tasks.md."""

from table.rows import ROWS, Row

HEAD = """# Tasks: what each comes to

Every built-in task, trained from nothing with the options that it has by default, on {machine}.
`tokens` and `sequences` are the shares that are right on samples never seen in training; a sequence is right
if all of it is; a picture is one of one token. Of several seeds the mean is told, and in brackets the worst
and the best. `seconds` are those of the processor, with all examinations and saving. Made again by
`make table`.

| task | what | model | parameters | steps of 64 | tokens | sequences | loss | seconds | seed |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|
"""


def page(kept: dict[str, dict], machine: str) -> str:
    lines = [line(row, kept[row.name]) for row in ROWS if row.name in kept]
    missed = [row.name for row in ROWS if row.name in kept and not reached(row, kept[row.name])]
    said = (
        f"\nBelow its goal of 99 % (reverse: 100 %, digits: 97 %) of the sequences: {', '.join(missed)}.\n"
        if missed
        else ""
    )
    return HEAD.format(machine=machine) + "".join(lines) + said


def line(row: Row, told: dict) -> str:
    each, seed = told.get("each", []), told["seed"]  # an older one has none
    spread = f" ({100 * min(each):.2f}–{100 * max(each):.2f})" if len(each) > 1 else ""
    cells = (
        row.name,
        row.what,
        told["family"],
        f"{told['parameters']:,}",
        f"{told['steps']:,}",
        f"{100 * told['tokens']:.2f} %",
        f"{100 * told['sequences']:.2f} %{spread}",
        f"{told['loss']:.3g}",
        f"{told['seconds']:.1f}",
        f"{seed}–{seed + len(each) - 1}" if spread else str(seed),
    )
    return f"| {' | '.join(cells)} |\n"


def reached(row: Row, told: dict) -> bool:
    return row.goal is None or told[row.goal[0]] >= row.goal[1]
