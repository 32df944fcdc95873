"""A gaze in a file: one safetensors file with queries, keys and masks, and all else as JSON in its head."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mirada.layers.masks import Mask, Part
from mirada.watching.call import Call
from mirada.watching.gaze import Gaze, Run
from mirada.watching.look import Look

FORMAT, VERSION = "mirada gaze", 1


def save(gaze: Gaze, path: str | os.PathLike, dtype: torch.dtype = torch.float32) -> None:
    """Queries and keys as `dtype`, float32 or float16; a tensor that is shared is written once."""
    if dtype not in (torch.float32, torch.float16):
        raise ValueError(f"dtype is {dtype}; expected torch.float32 or torch.float16")
    tensors: dict[str, Tensor] = {}
    names: dict[tuple, str] = {}

    def put(x: Tensor | None) -> str | None:
        if x is None:
            return None
        key = (x.untyped_storage().data_ptr(), x.storage_offset(), tuple(x.shape), x.stride(), x.dtype)
        if key not in names:
            names[key] = f"t{len(names)}"
            kept = x.to(dtype) if x.is_floating_point() and x.dtype != torch.bool else x
            tensors[names[key]] = kept.detach().cpu().contiguous()
        return names[key]

    def call(c: Call) -> dict[str, Any]:
        parts = [] if c.mask is None else c.mask.parts
        return {
            "query": put(c.query),
            "key": put(c.key),
            "shape": list(c.shape),
            "scale": c.scale,
            "mask": None
            if c.mask is None
            else [
                {
                    "kind": p.kind,
                    "size": p.size,
                    "first": p.first,
                    "side": p.side,
                    "tensor": put_mask(p.tensor),
                }
                for p in parts
            ],
            "softcap": c.softcap,
            "sinks": put_mask(c.sinks),
            "kernel": c.kernel,
            "training": c.training,
            "heads": list(c.heads),
            "error": None if c.error is None or not math.isfinite(c.error) else c.error,
            "proved": c.proved,
            "note": c.note,
        }

    def put_mask(x: Tensor | None) -> str | None:
        """Biases keep their own precision: float16 would turn a large one into a block."""
        nonlocal dtype
        asked, dtype = dtype, torch.float32
        try:
            return put(x)
        finally:
            dtype = asked

    described = {
        "format": FORMAT,
        "version": VERSION,
        "model": gaze.model,
        "tokens": None if gaze.tokens is None else list(gaze.tokens),
        "unseen": gaze.unseen,
        "runs": [
            [
                {
                    "path": k.path,
                    "kind": k.kind,
                    "where": k.where,
                    "starts": k.starts,
                    "calls": [*map(call, k.calls)],
                }
                for k in run
            ]
            for run in gaze.runs
        ],
    }
    _safetensors().torch.save_file(tensors, os.fspath(path), metadata={"mirada": json.dumps(described)})


def load_gaze(path: str | os.PathLike) -> Gaze:
    """The gaze that `gaze.save(path)` wrote.

    Raises ValueError for a file that is damaged, is something else, or comes from a newer version.
    """
    if not Path(path).is_file():
        raise ValueError(f"{os.fspath(path)} is not a file; expected one that gaze.save wrote")
    safetensors = _safetensors()
    try:
        with safetensors.safe_open(os.fspath(path), framework="pt") as file:
            described = (file.metadata() or {}).get("mirada")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except Exception as error:  # the library raises one of its own, and others for files cut short
        raise ValueError(f"{os.fspath(path)} is damaged, or not a gaze: {error}") from None
    if described is None:
        raise ValueError(
            f"{os.fspath(path)} holds tensors, but no gaze; expected a file that gaze.save wrote"
        )
    try:
        told = json.loads(described)
        if told.get("format") != FORMAT:
            raise KeyError("format")
        version = told["version"]
        if isinstance(version, int) and version > VERSION:
            raise ValueError(
                f"{os.fspath(path)} is a gaze of version {version}; this Mirada reads up to {VERSION}: "
                "update it"
            )
        return _gaze(told, tensors)
    except (KeyError, TypeError, AttributeError, IndexError, json.JSONDecodeError) as error:
        raise ValueError(f"{os.fspath(path)} is a damaged gaze: {type(error).__name__} {error}") from None


def _gaze(told: dict, tensors: dict[str, Tensor]) -> Gaze:
    gaze = Gaze(told["model"])
    gaze.tokens = told["tokens"]
    gaze.unseen = [(path, why) for path, why in told["unseen"]]
    for looks in told["runs"]:
        run = Run()
        for look in looks:
            calls = [_call(call, tensors) for call in look["calls"]]
            if len(calls) != len(look["starts"]) or not calls or look["kind"] not in ("self", "cross"):
                raise KeyError(f"calls of {look['path']}")
            run.looks[look["path"], look["kind"]] = Look(
                look["path"], look["kind"], look["where"], calls, look["starts"]
            )
        gaze.runs.append(run)
    return gaze


def _call(told: dict, tensors: dict[str, Tensor]) -> Call:
    def of(name: str | None) -> Tensor | None:
        return None if name is None else tensors[name]

    mask = None
    if told["mask"] is not None:
        mask = Mask(
            tuple(
                replace(Part(p["kind"], of(p["tensor"])), size=p["size"], first=p["first"], side=p["side"])
                for p in told["mask"]
            )
        )
    query, key, shape = tensors[told["query"]], tensors[told["key"]], tuple(told["shape"])
    fits = query.shape[2] == shape[2] and key.shape[2] == shape[3] and query.shape[3] == key.shape[3]
    if len(shape) != 4 or not fits or len(told["heads"]) != shape[1] or shape[1] % key.shape[1]:
        raise KeyError("shape")
    if mask is not None:
        mask.check(shape)
    return Call(
        query, key, shape, told["scale"], mask, told["softcap"], of(told["sinks"]), told["kernel"],
        told["training"], tuple(told["heads"]), told["error"], told["proved"], told["note"],
    )  # fmt: skip


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.torch
    except ImportError:
        raise ImportError('gazes are kept in safetensors files: pip install "mirada[gaze]"') from None
    return safetensors
