"""`python -m table [task …]`: train every built-in task as it is by default, and write docs/tasks.md.

The results are kept as JSON, so that a run of a few tasks renews those alone.
"""

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path
from statistics import fmean

import torch
from table.page import page
from table.rows import ROWS, Row

from mirada import num_parameters, train
from mirada.training.task import Score

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m table", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="row", help="which; all when none is given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=ROOT / "build/tasks.json", help="where results are kept")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/tasks.md", help="where the page goes")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - {row.name for row in ROWS}):
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(row.name for row in ROWS)}")
    kept = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    run_once(Row("reverse", "", options={"steps": 1}), 0)  # what is loaded once is no row's time
    for row in ROWS:
        if not arguments.names or row.name in arguments.names:
            kept[row.name] = told = trained(row, arguments.seed)
            print(f"{row.name}: {told}", flush=True)
            arguments.json.write_text(json.dumps(kept, indent=1) + "\n")
    arguments.page.write_text(page(kept, machine()))
    print(f"written to {arguments.page}")


def trained(row: Row, seed: int) -> dict:
    """What one row came to: of several runs the means, and all shares that were right."""
    runs = [run_once(row, each) for each in range(seed, seed + row.seeds)]
    means = {name: fmean(told[name] for told in runs) for name in (*Score._fields, "seconds")}
    return runs[0] | means | {"each": [told["sequences"] for told in runs]}


def run_once(row: Row, seed: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        run = train(row.task, seed=seed, out=Path(folder, "run"), **row.options)
        seconds = time.process_time() - begun  # of the processor: what else the machine does is not in it
    assert run.score is not None
    return {
        **run.score._asdict(),
        "family": run.task.family.replace("_", "-"),
        "parameters": num_parameters(run.model),
        "samples": run.task.train_size,
        "unseen": run.task.validation_size,
        "steps": run.steps,
        "seconds": seconds,
        "seed": seed,
    }


def machine() -> str:
    cpu = torch.backends.cpu.get_cpu_capability()
    return f"one thread of a {platform.machine()} processor ({cpu}), torch {torch.__version__}"


if __name__ == "__main__":
    main()
