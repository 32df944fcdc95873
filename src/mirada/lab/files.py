"""What a run's folder says, read without torch: the list of runs is there at once.

The files are those that `mirada.training` writes (see record.py, metrics.py, snapshots.py, checkpoints.py).
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

from mirada.training.errors import TrainingError
from mirada.training.files import replace_bytes
from mirada.training.metrics import read_metrics

RUN = "run.json"


def run_folders(runs: Path) -> list[Path]:
    """The folders of runs that lie directly in `runs`; a link, which may lead anywhere, is none."""
    try:
        return [path for path in runs.iterdir() if not path.is_symlink() and (path / RUN).is_file()]
    except OSError:
        return []


def name_of(folder: Path) -> str:
    """Its name as text: what is no UTF-8 in it could not be said."""
    return os.fsencode(folder.name).decode(errors="replace")


def read_told(folder: Path) -> dict[str, Any]:
    """What run.json says. OSError where it cannot be read; ValueError names what is damaged in it."""
    try:
        told = json.loads((folder / RUN).read_bytes())
    except (ValueError, RecursionError):
        raise ValueError("JSON") from None
    for name, kind in {"task": dict, "options": dict, "steps": int}.items():
        if not isinstance(told, dict) or type(told.get(name)) is not kind:
            raise ValueError(name)
    if not isinstance(told["task"].get("name"), str):
        raise ValueError("task")
    sizes = [told["options"].get(name, 1) for name in ("d_model", "heads", "blocks")]
    if not all(type(size) is int and size >= 1 for size in sizes):
        raise ValueError("options")
    return told


def mark_cancelled(folder: Path, cancelled: bool) -> None:
    """Say in run.json whether somebody has done with the run; training it on writes it without that word.

    Where it cannot be written, only this lab knows.
    """
    path = folder / RUN
    try:
        told, begun = read_told(folder), path.stat()
        if told.pop("cancelled", False) is cancelled:
            return
        if cancelled:
            told["cancelled"] = True
        replace_bytes(path, (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode())
        os.utime(path, ns=(begun.st_atime_ns, begun.st_mtime_ns))  # it says when the run began
    except (OSError, ValueError):
        return


def stamp(folder: Path, *more: str) -> list[tuple[int, int]] | None:
    """Changes where somebody trains in it; None where there is no such folder."""
    if not folder.is_dir():
        return None
    found = []
    for name in (RUN, "checkpoints", *more):
        try:
            told = (folder / name).stat()
            found.append((told.st_mtime_ns, told.st_ino))
        except OSError:
            found.append((0, 0))
    return found


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
    """metrics.jsonl, ready for JSON, whatever numbers it holds; none where it cannot be read."""
    try:
        lines = read_metrics(folder / "metrics.jsonl")
    except (TrainingError, RecursionError):
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
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        struct.error,
        RecursionError,
    ):
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
