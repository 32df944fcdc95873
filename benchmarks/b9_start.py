"""B9: how long one waits for the first answer. Each run is a fresh Python."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from benchmarks.harness import Row, Run

MIRADA = Path(sysconfig.get_path("scripts")) / "mirada"


def start(*command: str | Path) -> Run:
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def python(code: str) -> Run:
    return start(sys.executable, "-c", code)


def rows() -> list[Row]:
    torch, layers = "import torch", "import torch; from mirada import TransformerBlock"
    return [
        Row(
            "mirada --help",
            "import torch",
            lambda: (python(torch), start(MIRADA, "--help")),
            goal="≤ 250 ms",
            reached=lambda result: result.ours_ms <= 250,
        ),
        Row(
            "import mirada",
            "an empty Python",
            lambda: (python("pass"), python("import mirada")),
            goal="≤ 100 ms more, without torch",
            reached=lambda result: result.ours_ms - result.peer_ms <= 100,
        ),
        Row(
            "import torch and the block",
            "import torch",
            lambda: (python(torch), python(layers)),
            goal="≤ 100 ms more",
            reached=lambda result: result.ours_ms - result.peer_ms <= 100,
        ),
    ]
