"""Checkpoints: all that a run needs to go on as if it had never stopped, written whole or not at all.

    checkpoints/step-00000313/
        weights.safetensors   the model's
        state.safetensors     of the optimizer, of the random numbers, of the order of the data
        state.json            where in the run this is, and the SHA-256 of the other two and of itself

A folder gets its name only when everything in it is on the disk. So one that a power failure cut short
usually does not exist; one that it damaged all the same, or somebody did, is noticed by its sums.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from mirada.training.errors import TrainingError, TrainingWarning, unreadable
from mirada.training.files import sync_folder, write_bytes

KEPT = 2  # the newest, and one in case it is damaged
WEIGHTS, STATE, TOLD = "weights.safetensors", "state.safetensors", "state.json"


@dataclass(frozen=True)
class Checkpoint:
    """What was read back.

    Args:
        step: after which it was written.
        weights, state: tensors by name.
        told: the rest, as JSON knows it.
    """

    step: int
    weights: dict[str, Tensor]
    state: dict[str, Tensor]
    told: dict[str, Any]


def write_checkpoint(
    folder: Path, step: int, weights: Mapping[str, Tensor], state: Mapping[str, Tensor], told: dict[str, Any]
) -> Path:
    """Write the checkpoint of a step into `folder`, and keep the newest two.

    Raises OSError, with all that was there before in place and nothing half done.
    """
    weights, shared = once(weights)
    files = {WEIGHTS: packed(weights), STATE: packed(state)}
    told = {
        **told,
        "step": step,
        "shared": shared,
        "sha256": {name: digest(data) for name, data in files.items()},
    }
    files[TOLD] = json.dumps({**told, "own_sha256": digest(canonical(told))}, indent=1).encode()
    target = folder / f"step-{step:08d}"
    beside = folder / f".{target.name}.{secrets.token_hex(4)}"
    try:
        beside.mkdir()
        for name, data in files.items():
            write_bytes(beside / name, data)
        sync_folder(beside)
        if target.exists():  # one that was found damaged: the run came by here again
            os.replace(target, aside := beside.with_name(f"{beside.name}.old"))
            shutil.rmtree(aside, ignore_errors=True)
        os.replace(beside, target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    sync_folder(folder)
    tidy(folder, step)
    return target


def read_checkpoint(folder: Path) -> Checkpoint:
    """The newest checkpoint in `folder` that is whole; a TrainingWarning for each newer one that is not.

    Raises TrainingError where none is.
    """
    damaged = []
    for step, path in sorted(steps_in(folder), reverse=True):
        try:
            checkpoint = read_one(path)
        except PermissionError as error:  # it may be whole, and is nobody's to throw away
            raise unreadable(error, path) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            damaged.append((step, path, reason_of(error)))
            continue
        for _, bad, reason in damaged:
            warnings.warn(
                TrainingWarning("training.damaged", path=bad, reason=reason, step=step), stacklevel=2
            )
        return checkpoint
    if damaged:
        _, path, reason = damaged[0]
        raise TrainingError("training.all_damaged", folder=folder, path=path, reason=reason)
    raise TrainingError("training.no_checkpoint", folder=folder)


def read_one(path: Path) -> Checkpoint:
    """One that is whole. Raises OSError or ValueError that says why not, or what broken JSON leads to."""
    told = json.loads((path / TOLD).read_bytes())
    if told.pop("own_sha256") != digest(canonical(told)):
        raise ValueError(f"{TOLD}: SHA-256")
    tensors = {}
    for name in (WEIGHTS, STATE):
        data = (path / name).read_bytes()
        if digest(data) != told["sha256"][name]:
            raise ValueError(f"{name}: SHA-256")
        tensors[name] = safetensors.torch.load(data)
    for name, first in told.get("shared", {}).items():
        tensors[WEIGHTS][name] = tensors[WEIGHTS][first]
    return Checkpoint(told["step"], tensors[WEIGHTS], tensors[STATE], told)


def steps_in(folder: Path) -> list[tuple[int, Path]]:
    """Which steps have a checkpoint, whole or not. What has no name yet does not count.

    Raises TrainingError where it cannot be seen.
    """
    try:
        found = [(re.fullmatch(r"step-(\d{8,})", path.name), path) for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(error, folder) from None
    return [(int(match[1]), path) for match, path in found if match]


def begun_in(folder: Path) -> list[Path]:
    """Checkpoints that were being written, or replaced, when a process was killed."""
    if not folder.is_dir():
        return []
    return [
        path for path in folder.iterdir() if re.fullmatch(r"\.step-\d{8,}\.[0-9a-f]{8}(\.old)?", path.name)
    ]


def tidy(folder: Path, step: int) -> None:
    """Keep the newest two up to `step`. Later ones were damaged: else the run had gone on from them.

    Whatever has a name that we give nothing, such as step-00000030-copy, is somebody's own.
    """
    found = sorted(steps_in(folder), reverse=True)
    kept = [path for at, path in found if at <= step][:KEPT]
    for path in (*(path for _, path in found if path not in kept), *begun_in(folder)):
        shutil.rmtree(path, ignore_errors=True)


def once(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Each tensor under its first name, and the first name of each that is the same one again.

    A model that ties its weights has one under two names, which a safetensors file may not.
    """
    first: dict[Any, str] = {}
    kept, shared = {}, {}
    for name, x in tensors.items():
        place = (x.data_ptr(), x.shape, x.stride(), x.dtype) if x.numel() else name
        if place in first:
            shared[name] = first[place]
        else:
            first[place] = name
            kept[name] = x
    return kept, shared


def packed(tensors: Mapping[str, Tensor]) -> bytes:
    apart, taken = {}, set()
    for name, x in tensors.items():
        x = x.detach().cpu().contiguous()
        storage = x.untyped_storage().data_ptr()
        apart[name] = x.clone() if storage in taken else x  # two that overlap
        taken.add(storage)
    return safetensors.torch.save(apart)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical(told: dict[str, Any]) -> bytes:
    return json.dumps(told, sort_keys=True).encode()


def reason_of(error: BaseException) -> str:
    if isinstance(error, OSError):
        name = Path(error.filename).name if error.filename else ""
        return f"{name}: {error.strerror}" if name else str(error)
    if isinstance(error, ValueError) and not isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return str(error)
    return TOLD
