"""The tasks that the page offers, with what they do unless told otherwise.

They stand in tasks.json, so that the page opens without the two seconds that torch takes to be loaded; a test
holds it against the tasks themselves. `python -m mirada.lab.tasks` writes it anew.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("tasks.json")
SHOWN = ("causal", "epochs", "steps", "d_model", "heads", "blocks", "seed")


@cache
def tasks() -> dict[str, dict[str, Any]]:
    """By name: {"name", "family", "question", "answer", "steps", "epoch", "options"}.

    `epoch` is how many steps one takes.
    """
    return {task["name"]: task for task in json.loads(FILE.read_bytes())}


def steps_of(task: str, options: dict[str, Any]) -> int:
    """How many steps a run of that task takes, as TrainingOptions.length says it."""
    epoch = tasks()[task]["epoch"]
    given = (options["steps"], options["epochs"] and options["epochs"] * epoch)
    return min((steps for steps in given if steps), default=epoch)


def shown(options: dict[str, Any]) -> dict[str, Any]:
    """Of all training options those that the page shows; positions there are, or are not."""
    found = {"positions": options["positions"] != "none", **{name: options[name] for name in SHOWN}}
    if found["steps"] is None and found["epochs"] is None:
        found["epochs"] = 1  # which is what the library does
    return found


def described() -> list[dict[str, Any]]:
    """What tasks.json must hold, from the library itself."""
    from mirada.training.data import Order
    from mirada.training.finding import BUILT_IN, find_task
    from mirada.training.options import options_for

    found = []
    for name in BUILT_IN:
        task = find_task(name)
        options = options_for(task)
        learnt, unseen = task.data(options.seed)
        epoch = Order(len(learnt), options.batch_size, options.seed).batches
        question, answer = task.show(unseen, 0)
        told = {"name": name, "family": task.family, "question": question, "answer": answer}
        told |= {"steps": options.length(epoch), "epoch": epoch, "options": shown(options.to_dict())}
        found.append(told)
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(described(), indent=1, ensure_ascii=False) + "\n", "utf-8")
