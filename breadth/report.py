"""docs/breadth.md: the verdicts, readable."""

from typing import Any

from breadth.judge import NONE, NOT_BUILT, PART, UNSEEN, WHOLE, WRONG

MEANING = {
    WRONG: "A look that is called proved and is not what eager attention says, or outputs that changed.",
    PART: "Some attention was not seen, or could not be proved; the rest is exact. Outputs are unchanged.",
    UNSEEN: "Nothing was captured, and `watch` says so; outputs are unchanged.",
    WHOLE: "Every attention seen and proved, outputs bit for bit the same, weights within 5e-6 of eager's.",
    NONE: "Convolutions, state spaces, Fourier transforms: nobody looks at anybody.",
    NOT_BUILT: "No tiny model of it runs here, and why.",
}
Record = dict[str, Any]


def page(records: list[Record], transformers: str, torch: str) -> str:
    by_class = {
        name: sorted((r for r in records if r["verdict"] == name), key=lambda r: r["family"])
        for name in MEANING
    }
    attend = sum(len(by_class[name]) for name in (WRONG, PART, UNSEEN, WHOLE))
    built = attend + len(by_class[NONE])
    lines = [
        "# Breadth: which models can be watched",
        "",
        f"Every model family of transformers {transformers} ({len(records)}: one for each modeling file), "
        "with",
        f"torch {torch} on a CPU. Each was built tiny, with random weights, run unwatched and watched by",
        "`mirada.watch`, and its weights were laid beside those that its own eager attention hands out.",
        "What is not given to a model does not run. Made again by `make breadth`.",
        "",
        f"{built} of {len(records)} build and run; {attend} of them have attention. Of these:",
        "",
        "| | families | of those with attention |",
        "|---|---:|---:|",
    ]
    for name in (WHOLE, PART, UNSEEN, WRONG):
        share = f"{100 * len(by_class[name]) / attend:.1f} %" if attend else ""
        lines.append(f"| {name} | {len(by_class[name])} | {share} |")
    lines += [f"| {name} | {len(by_class[name])} | |" for name in (NONE, NOT_BUILT)]
    for name, meaning in MEANING.items():
        if by_class[name]:
            lines += [
                "",
                f"## {name[0].upper()}{name[1:]}: {len(by_class[name])}",
                "",
                meaning,
                "",
                *_table(name, by_class[name]),
            ]
        if alone := [r["family"] for r in by_class[name] if r.get("alone")]:
            lines += [
                "",
                f"In {', '.join(alone)} `watch` also notes softmaxes that are not attention: change what one",
                "token brings to such a module, and nothing changes at the others.",
            ]
    return "\n".join(lines) + "\n"


def _table(name: str, records: list[Record]) -> list[str]:
    if name == NOT_BUILT:
        return [
            "| family | why |",
            "|---|---|",
            *(f"| {r['family']} | {_cell(r['sentence'])} |" for r in records),
        ]
    if name == NONE:
        return ["| family | model | given |", "|---|---|---|", *(
            f"| {r['family']} | {r['model']} | {_given(r)} |" for r in records
        )]  # fmt: skip
    if name == WHOLE:
        head = ["| family | model | given | looks | largest error | beside eager | largest difference |",
                "|---|---|---|---:|---:|---:|---:|"]  # fmt: skip
        return head + [
            f"| {r['family']} | {r['model']} | {_given(r)} | {r['looks']} | {_number(r['error'])} |"
            f" {r['compared']} | {_number(r['eager'])} |"
            for r in records
        ]
    head = ["| family | model | looks | largest error | what |", "|---|---|---:|---:|---|"]
    return head + [
        f"| {r['family']} | {r['model']} | {r['looks']} | {_number(r['error'])} | {_cell(_what(r))} |"
        for r in records
    ]


def _what(record: Record) -> str:
    """The troubles of one family: equal ones of several modules once, with the first module's name."""
    said: dict[str, list[str]] = {}
    for path, why in record["wrong"] + record["unproved"] + record["missing"]:
        said.setdefault(why, []).append(path)
    texts = [
        f"`{paths[0] or 'the model'}`{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {why}"
        for why, paths in said.items()
    ]
    if record["sentence"]:
        texts.insert(0, record["sentence"])
    return "; ".join(texts[:4]) + (f"; and {len(texts) - 4} more" if len(texts) > 4 else "")


def _given(record: Record) -> str:
    """Only the names: the sizes are the same few everywhere."""
    return ", ".join(part.split(" ")[0] for part in record["inputs"].split(", "))


def _number(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.0e}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
