"""`python -m benchmarks [B1 B2 …] [--json PATH] [--quick]`: ours beside its peers, in turn, in one process.

Prints a table and writes the same as JSON. Asserts nothing: times change with the machine and the minute,
ratios hardly do.
"""

import argparse
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

import torch
from benchmarks.harness import Result, collect, measure

HEADINGS = ("", "work", "against", "peer", "ours", "ratio", "middle half", "MB peer", "MB ours", "goal", "")


def cells(result: Result) -> tuple[str, ...]:
    if result.note:
        return (result.id, result.name, result.peer, "", "", "", "", "", "", result.goal, result.note)
    mb = ["" if x is None else f"{x:,.0f}" for x in (result.peer_mb, result.ours_mb)]
    verdict = {True: "reached", False: "NOT reached", None: ""}[result.reached]
    spread = f"{result.spread[0]:.2f}–{result.spread[1]:.2f}"
    times = [f"{x:,.1f} ms" for x in (result.peer_ms, result.ours_ms)]
    return (
        result.id,
        result.name,
        result.peer,
        *times,
        f"{result.ratio:.2f}",
        spread,
        *mb,
        result.goal,
        verdict,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="B1", type=str.upper, help="which; all when none is given")
    parser.add_argument("--json", type=Path, default=Path("docs/benchmarks.json"), help="where the JSON goes")
    parser.add_argument("--quick", action="store_true", help="three rounds: a glance, not a measurement")
    arguments = parser.parse_args()

    machine = {
        "machine": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "vector": torch.backends.cpu.get_cpu_capability(),
    }
    print(", ".join(f"{name} {value}" for name, value in machine.items()), flush=True)
    rows = collect(arguments.ids)
    results = []
    for id, row in rows:
        print(f"  {id} {row.name} …", flush=True)
        results.append(measure(id, row, arguments.quick))
    table = [HEADINGS, *map(cells, results)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADINGS))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({**machine, "rows": [asdict(r) for r in results]}, indent=1) + "\n")
    print(f"written to {arguments.json}")


if __name__ == "__main__":
    main()
