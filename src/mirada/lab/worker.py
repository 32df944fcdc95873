"""One run, in a process of its own: `python -m mirada.lab.worker`.

It reads one line of JSON, {"task", "options", "out"} or {"resume"}, and writes a line for each thing that
happens: {"event": "start" | "line" | "maps" | "warning" | "error" | "end", …}. When what it reads ends,
because the lab says so or because there is no lab any more, it saves and ends; so it does on SIGTERM.
"""

import contextlib
import json
import os
import sys
import threading
import traceback
import warnings
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from torch import Tensor

    from mirada.training.runs import Run

NICE = 10  # whoever uses this machine goes first


def main() -> None:
    told = sys.stdin.readline()
    stopped = threading.Event()
    threading.Thread(target=wait_for_end, args=(stopped,), daemon=True).start()
    # What a task of somebody's own prints must not come between the lines.
    out = open(os.dup(1), "w", encoding="utf-8", newline="\n")  # noqa: SIM115
    os.dup2(2, 1)
    work(json.loads(told), Lines(out), stopped)
    with contextlib.suppress(BrokenPipeError):
        out.close()
    # The thread that reads cannot be ended; without this, the interpreter would stumble over it.
    sys.stdout.flush()
    os._exit(0)


def wait_for_end(stopped: threading.Event) -> None:
    while os.read(0, 1 << 16):
        pass
    stopped.set()


class Lines:
    """Where the lines go."""

    def __init__(self, out: TextIO):
        self.out = out

    def write(self, event: str, **values: Any) -> None:
        # Where there is no lab any more, the run is told so by its other pipe.
        with contextlib.suppress(BrokenPipeError):
            self.out.write(json.dumps({"event": event, **values}, allow_nan=False) + "\n")
            self.out.flush()


def work(told: dict[str, Any], lines: Lines, stopped: threading.Event) -> None:
    """Train as told, and say what happens."""
    from mirada.lab.files import rounded
    from mirada.models.counting import num_parameters
    from mirada.training.errors import TrainingError, TrainingWarning
    from mirada.training.loop import train
    from mirada.training.stopping import Listener, StopTraining

    class Tells(Listener):
        def on_start(self, run: "Run", steps: int) -> None:
            lines.write("start", step=run.step, steps=steps, parameters=num_parameters(run.model))

        def on_step(self, step: int, loss: "Tensor") -> None:
            if stopped.is_set():
                raise StopTraining

        def on_line(self, line: dict[str, Any]) -> None:
            lines.write("line", line=line)

        def on_maps(self, step: int, maps: dict[str, "Tensor"]) -> None:
            for kind, each in sorted(maps.items()):
                lines.write("maps", maps={"step": step, "kind": kind, "maps": rounded(each.tolist())})

    def warn(warning: Warning | str, *_: Any, **__: Any) -> None:
        if isinstance(warning, TrainingWarning):
            lines.write("warning", key=warning.key, values=plain(warning.values))

    warnings.showwarning = warn
    if hasattr(os, "nice"):  # only now: who pressed the button waits for all that was loaded above
        os.nice(NICE)
    if stopped.is_set():
        return
    try:
        run = train(
            told.get("task"),
            out=told.get("out"),
            resume=told.get("resume"),
            listener=Tells(),
            **told.get("options", {}),
        )
    except TrainingError as error:
        lines.write("error", key=error.key, values=plain(error.values))
    except Exception as error:
        if os.environ.get("MIRADA_DEBUG"):
            traceback.print_exc()
        values = {"kind": type(error).__name__, "reason": str(error)[:500]}
        lines.write("error", key="lab.run_failed", values=values)
    else:
        lines.write("end", step=run.step, finished=run.finished)


def plain(values: dict[str, object]) -> dict[str, Any]:
    """What fills a sentence, as JSON knows it."""
    return {name: x if isinstance(x, int | float | str) else str(x) for name, x in values.items()}


if __name__ == "__main__":
    main()
