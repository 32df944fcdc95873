"""What training came to, step by step: metrics.jsonl, one JSON object a line, only ever appended to.

    {"step": 10, "epoch": 1, "kind": "training", "loss": 2.31, "lr": 0.001, "seconds": 0.04}
    {"step": 313, "epoch": 1, "kind": "validation", "loss": 0.01, "tokens": 1.0, "sequences": 1.0,
    "seconds": 0.7}

`loss` of training is the mean since the last such line: after ten steps, and before each examination and
each checkpoint. A run that was stopped has one line more than one that was not, with the mean until then. The
last line of a run that came to its end is its final examination. A run that goes on from a checkpoint first
cuts off what was written after it: these steps will be done again, and come to the same. Before a checkpoint
the lines up to it are on the disk.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from mirada.training.errors import unreadable
from mirada.training.files import replace_bytes

TOLD = {"training": ("loss", "lr", "seconds"), "validation": ("loss", "tokens", "sequences", "seconds")}


class Metrics:
    """The lines of a run: kept, and written to its file."""

    def __init__(self, path: Path, until: int | None = None):
        """Begin, or go on after step `until` of what is there. Raises OSError."""
        self.path = path
        self.lines = [] if until is None else [line for line in read_metrics(path) if line["step"] <= until]
        text = "".join(json.dumps(line) + "\n" for line in self.lines)
        if not path.exists() or path.read_bytes() != text.encode():
            replace_bytes(path, text.encode())
        self.file = open(path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115

    def add(self, **line: Any) -> dict[str, Any]:
        self.lines.append(line)
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
        return line

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        os.fsync(self.file.fileno())

    def close(self) -> None:
        with suppress(OSError):  # what could not be written was said when it was; closing tries once more
            self.file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a file. One that a power failure cut short ends it, and is left out.

    Raises TrainingError where it cannot be read.
    """
    lines = []
    try:
        texts = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(error, path) from None
    for text in texts:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            break
        if not is_line(line):
            break
        lines.append(line)
    return lines


def is_line(line: Any) -> bool:
    """Whether it says all that a line of its kind says, in numbers."""
    if not isinstance(line, dict) or type(line.get("step")) is not int or line.get("kind") not in TOLD:
        return False
    return all(isinstance(line.get(name), int | float) for name in TOLD[line["kind"]])
