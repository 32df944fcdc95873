"""A run as the lab knows it: from its folder, or from the worker that trains it."""

import json
import subprocess
import threading
import time
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from mirada.lab.files import (
    count_parameters,
    in_use,
    last_checkpoint,
    name_of,
    read_lines,
    read_maps,
    read_told,
    step_of,
)
from mirada.lab.log import Log
from mirada.lab.tasks import shown, tasks

State = Literal["waiting", "running", "paused", "finished", "cancelled", "failed"]
Sentence = tuple[str, dict[str, Any]]  # a key of the catalogue, and what fills it


class Job:
    """A run, as this lab knows it.

    Attributes:
        options: those that the page shows.
        given: what the worker is told, on top of what is in the folder.
        error, warning: sentences.
        damaged: one where its run.json cannot be read; it can then only be listed.
        wanted: what it shall be once its process has ended.
        began: its process has read all it needs, and trains.
        ended: what its process said last: whether the run came to its end.
        settled: nobody works on it.
        stamp: that of its folder when it came to rest.
    """

    def __init__(self, folder: Path, task: str, options: dict[str, Any], steps: int):
        self.folder, self.task, self.options, self.steps = folder, task, options, steps
        self.given: dict[str, Any] = {}
        self.state: State = "waiting"
        self.step = 0
        self.parameters: int | None = None
        self.score: dict[str, Any] | None = None
        self.error: Sentence | None = None
        self.warning: Sentence | None = None
        self.damaged: Sentence | None = None
        self.lines: list[dict[str, Any]] = []
        self.maps: list[dict[str, Any]] = []
        self.log = Log()
        self.process: subprocess.Popen[str] | None = None
        self.wanted: State | None = None
        self.began = False
        self.ended: bool | None = None
        self.settled = threading.Event()
        self.since = time.time()
        self.stamp: list[tuple[int, int]] | None = None
        self.ours = False

    @classmethod
    def found(cls, folder: Path) -> "Job":
        """A run that lies in a folder, as its files say. Raises OSError where it has been taken away."""
        try:
            told = read_told(folder)
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:
            return cls.unreadable(folder, getattr(error, "strerror", None) or str(error))
        job = cls(folder, told["task"]["name"], options_in(told), told["steps"])
        checkpoint = last_checkpoint(folder)
        if checkpoint is not None:
            job.step, job.parameters = step_of(checkpoint), count_parameters(checkpoint)
        live = job.step < job.steps and in_use(folder)
        rests: State = "cancelled" if told.get("cancelled") is True else "paused"
        job.state = "finished" if job.step >= job.steps else "running" if live else rests
        for line in read_lines(folder):
            if live or line["step"] <= job.step:  # what came after the checkpoint will be done again
                job.add_line(line)
        return job.at_rest()

    @classmethod
    def unreadable(cls, folder: Path, reason: str) -> "Job":
        """One whose run.json cannot be read: it is listed, and says so."""
        job = cls(folder, "?", options_in({"options": {}}), 0)
        job.state = "failed"
        job.error = job.damaged = "lab.run_damaged", {"path": folder / "run.json", "reason": reason}
        return job.at_rest()

    def at_rest(self) -> "Job":
        self.since = (self.folder / "run.json").stat().st_mtime
        self.log.close()
        self.settled.set()
        return self

    def with_maps(self) -> "Job":
        """The same, with the maps of its file."""
        for maps in read_maps(self.folder):
            if maps["step"] <= self.step:
                self.add_maps(maps)
        self.log.add("run", self.told(None))
        return self

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")

    def add_line(self, line: dict[str, Any]) -> None:
        self.lines.append(line)
        self.step = max(self.step, line["step"])
        self.note_score(line)
        self.log.add("line", json.dumps(line))

    def note_score(self, line: dict[str, Any]) -> None:
        if line.get("kind") == "validation":
            self.score = {name: line.get(name) for name in ("loss", "tokens", "sequences")}

    def add_maps(self, maps: dict[str, Any]) -> None:
        self.maps.append(maps)
        self.log.add("maps", json.dumps(maps))

    def rewind(self, step: int) -> None:
        """Go back to a step: what came after it will be done again."""
        self.step, self.score = step, None
        self.lines = [line for line in self.lines if line["step"] <= step]
        self.maps = [maps for maps in self.maps if maps["step"] <= step]
        for line in self.lines:
            self.note_score(line)

    def catch_up(self, now: "Job") -> None:
        """Become what a later look at its files found, and say what is new."""
        self.state, self.steps, self.parameters = now.state, now.steps, now.parameters
        self.error, self.damaged = now.error, now.damaged
        if now.lines[: len(self.lines)] != self.lines:  # it went on from a checkpoint that lies behind
            both = zip_longest(self.lines, now.lines)
            others = next((old, new) for old, new in both if old != new)
            self.rewind(min(now.step, *(line["step"] - 1 for line in others if line)))
            self.log.add("run", self.told(None))
        new = len(self.lines)
        for line in now.lines[new:]:
            self.add_line(line)
        known = {(maps["step"], maps["kind"]) for maps in self.maps}
        for maps in now.maps:
            if (maps["step"], maps["kind"]) not in known:
                self.add_maps(maps)
        self.step, self.score = now.step, now.score
        # Steps and scores are in the lines; all else is said where it is another one.
        told, said = self.told(None), [each.data for each in self.log.happenings if each.name == "run"][-1]
        assert isinstance(said, dict)
        if told != said | {"step": self.step, "score": self.score}:
            self.log.add("run", told)

    def take(self, event: str, told: dict[str, Any]) -> bool:
        """What the worker says. True where the run's state is another one now."""
        match event:
            case "start":
                self.began = True
                self.steps, self.parameters = told["steps"], told["parameters"]
                self.rewind(told["step"])
            case "line":
                self.add_line(told["line"])
            case "maps":
                self.add_maps(told["maps"])
            case "warning":
                self.warning = told["key"], told["values"]
            case "error":
                self.error = told["key"], told["values"]
            case "end":
                self.ended, self.step = told["finished"], told["step"]
        return event in ("start", "warning")

    def end(self, code: int) -> None:
        """Its process has ended: what became of the run."""
        if self.error is not None:
            self.state = "failed"
        elif self.ended is not None:
            self.state = "finished" if self.ended else self.wanted or "paused"
        elif self.wanted is not None and not self.began:
            self.state = self.wanted
        else:
            saved = last_checkpoint(self.folder)
            key = "lab.run_lost" if saved is None else "lab.run_died"
            self.error = key, {"code": code, "step": 0 if saved is None else step_of(saved)}
            self.state = "failed"

    def told(self, place: int | None) -> dict[str, Any]:
        """What the page is told of it; `error` and `warning` are still to be said in a language."""
        return {
            "id": name_of(self.folder),
            "task": self.task,
            "family": tasks().get(self.task, {}).get("family")
            or {"letters": "decoder", "images": "vision"}.get(self.task),
            "options": self.options,
            "state": self.state,
            "place": place,
            "step": self.step,
            "steps": self.steps,
            "parameters": self.parameters,
            "score": self.score,
            "heads": self.options["heads"],
            "blocks": self.options["blocks"],
            "error": self.error,
            "warning": self.warning,
            "ours": self.ours,
        }


def options_in(told: dict[str, Any]) -> dict[str, Any]:
    """The page's options, of what run.json says."""
    usual = {"positions": "learned", "causal": False, "epochs": None, "steps": None}
    usual |= {"d_model": 32, "heads": 2, "blocks": 1, "seed": 0}
    return shown(usual | told["options"])
