"""What a run's folder says, read without torch: the list of runs is there at once.

The files are those that `mirada.training` writes (see runs.py, metrics.py, snapshots.py, checkpoints.py).
"""

import json
import math
import os
import re
import struct
import sys
from array import array
from pathlib import Path
from typing import Any

from mirada.training.metrics import read_metrics


def run_folders(runs: Path) -> list[Path]:
    """The folders of runs that lie directly in `runs`; a link, which may lead anywhere, is none."""
    try:
        found = [path for path in runs.iterdir() if not path.is_symlink() and (path / "run.json").is_file()]
    except OSError:
        return []
    return [path for path in found if read_told(path) is not None]


def read_told(folder: Path) -> dict[str, Any] | None:
    """What run.json says; None where it is none."""
    try:
        told = json.loads((folder / "run.json").read_bytes())
        options, name = told["options"], told["task"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    known = isinstance(options, dict) and isinstance(name, str) and type(told.get("steps")) is int
    return told if known else None


def in_use(folder: Path) -> bool:
    """Whether some program trains in it now; as far as that can be known, see training/folders.py."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def last_checkpoint(folder: Path) -> Path | None:
    """The newest one. Whether it is whole shows when it is read."""
    try:
        found = [path for path in (folder / "checkpoints").iterdir() if re.fullmatch(r"step-\d+", path.name)]
    except OSError:
        return None
    return max(found, key=step_of, default=None)


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))


def count_parameters(checkpoint: Path) -> int | None:
    """How many numbers its weights are."""
    try:
        with open(checkpoint / "weights.safetensors", "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(size, 2**24)))
        return sum(math.prod(x["shape"]) for name, x in header.items() if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None


def read_lines(folder: Path) -> list[dict[str, Any]]:
    """metrics.jsonl, ready for JSON, whatever numbers it holds."""
    try:
        lines = read_metrics(folder / "metrics.jsonl")
    except OSError:
        return []
    return [{name: finite(x) for name, x in line.items()} for line in lines]


def read_maps(folder: Path) -> list[dict[str, Any]]:
    """{"step", "kind", "maps"} for each snapshot and kind of attention, oldest first; none if damaged."""
    try:
        data = (folder / "maps.safetensors").read_bytes()
        (size,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + size])
        header.pop("__metadata__", None)
        tensors = {name: numbers(data, 8 + size, **told) for name, told in header.items()}
        steps = tensors.pop("steps")
        return [
            {"step": step, "kind": kind, "maps": rounded(maps[i])}
            for i, step in enumerate(steps)
            for kind, maps in sorted(tensors.items())
        ]
    except (OSError, ValueError, KeyError, TypeError, IndexError, struct.error):
        return []


def numbers(data: bytes, start: int, dtype: str, shape: list[int], data_offsets: list[int]) -> list[Any]:
    """One tensor of a safetensors file, as nested lists."""
    first, last = data_offsets
    flat = array({"F32": "f", "I64": "q"}[dtype], data[start + first : start + last])
    if sys.byteorder == "big":
        flat.byteswap()
    if len(flat) != math.prod(shape):
        raise ValueError("a tensor's size is not that of its shape")
    nested: list[Any] = flat.tolist()
    for size in reversed(shape[1:]):
        nested = [nested[i : i + size] for i in range(0, len(nested), size)]
    return nested


def rounded(maps: Any) -> Any:
    """Nested lists of weights to three decimals; null, where nobody may look, for NaN."""
    if isinstance(maps, list):
        return [rounded(each) for each in maps]
    return None if math.isnan(maps) else round(maps, 3)


def finite(x: Any) -> Any:
    return None if isinstance(x, float) and not math.isfinite(x) else x
