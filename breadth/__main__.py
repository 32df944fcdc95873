"""`python -m breadth [family …] [--json PATH] [--only CLASS]`: is every family of transformers seen whole?

Each family is built tiny and random, run unwatched and watched, and laid beside its own eager attention. The
verdicts are kept as JSON, so that a run of a few families renews those alone; docs/breadth.md is written anew
from all of them.
"""

import argparse
import json
import time
from pathlib import Path

import torch
import transformers
from breadth.families import families
from breadth.report import page
from breadth.workers import judged


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m breadth", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="family", help="which; all when none is given")
    parser.add_argument(
        "--json", type=Path, default=Path("build/breadth.json"), help="where the verdicts are kept"
    )
    parser.add_argument("--only", metavar="CLASS", help='those whose last verdict was this, say "in part"')
    parser.add_argument("--page", type=Path, default=Path("docs/breadth.md"), help="where the page goes")
    arguments = parser.parse_args()

    known = {family.name: family for family in families()}
    if unknown := sorted(set(arguments.names) - set(known)):
        parser.error(f"no such family in transformers {transformers.__version__}: {', '.join(unknown)}")
    kept = {}
    if arguments.json.exists():
        kept = {n: r for n, r in json.loads(arguments.json.read_text())["families"].items() if n in known}
    names = arguments.names or list(known)
    if arguments.only:
        names = [name for name in names if kept.get(name, {}).get("verdict") == arguments.only]
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    for done, record in enumerate(judged([known[name] for name in names]), 1):
        kept[record["family"]] = record
        print(
            f"{done:4}/{len(names)}  {record['family']:32} {record['verdict']:18} {_line(record)}", flush=True
        )
        versions = {"transformers": transformers.__version__, "torch": torch.__version__}
        arguments.json.write_text(json.dumps({**versions, "families": kept}, indent=1, sort_keys=True) + "\n")
    arguments.page.write_text(page(list(kept.values()), transformers.__version__, torch.__version__))
    print(f"{time.monotonic() - start:.0f} s; written to {arguments.json} and {arguments.page}")


def _line(record: dict) -> str:
    troubles = record["wrong"] or record["unproved"] or record["missing"]
    text = "; ".join(f"{path}: {why}" for path, why in troubles[:2]) or record["sentence"]
    return f"{record['looks']:3} looks  {text}"[:200]


if __name__ == "__main__":
    main()
