"""Mark a student's file: which exercises it checks, and what came of each."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mirada.catalogue import Language
from mirada.exercises.listing import ENTRIES
from mirada.exercises.student import pieces


@dataclass
class Marks:
    """What a file's checks found.

    Attributes:
        checked: by name, the last check of each exercise: "status", and what it "said".
        stopped: where the file failed, if it did: "stopped" (file or cell), "kind", "message", "line".
    """

    checked: dict[str, dict[str, Any]] = field(default_factory=dict)
    stopped: list[dict[str, Any]] = field(default_factory=list)

    def wanted(self, core: bool) -> list[str]:
        """The exercises that must be right: those checked, or the core ones, checked or not."""
        return [name for name, entry in ENTRIES.items() if (entry.core if core else name in self.checked)]

    def passed(self, core: bool) -> bool:
        """True if there is something to mark, all of it is right, and nothing stopped the file."""
        wanted = self.wanted(core)
        right = [name for name in wanted if self.checked.get(name, {}).get("status") == "correct"]
        return bool(wanted) and right == wanted and not self.stopped


def mark(path: Path, language: Language) -> Marks:
    """Run a .py or .ipynb file by itself, in its own folder, and gather its verdicts.

    This runs the student's code with your rights: open it first where you do not trust it.
    Raises OSError where the file cannot be read, ValueError where it is no text or no notebook.
    """
    pieces(path)
    with tempfile.TemporaryDirectory() as place:
        told = Path(place) / "verdicts"
        environment = {
            **os.environ,
            "MIRADA_LANG": language,
            "MPLBACKEND": "agg",
            "PYTHONIOENCODING": "utf-8",
        }
        done = subprocess.run(
            [sys.executable, "-m", "mirada.exercises.student", str(path.absolute()), str(told)],
            cwd=path.absolute().parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        lines = told.read_text("utf-8").splitlines() if told.exists() else []
    marks = Marks()
    for line in lines:
        told_once = json.loads(line)
        if "stopped" in told_once:
            marks.stopped.append(told_once)
        else:
            marks.checked[told_once["exercise"]] = told_once
    if done.returncode:  # as after os._exit or a crash: nothing was said about it
        said = {"kind": "exit", "message": str(done.returncode), "line": None}
        marks.stopped.append({"stopped": path.name, **said})
    return marks
