"""A gaze in a file: one safetensors file with queries, keys and masks, and all else as JSON in its head."""

import json
import math
import os
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import save_file
from torch import Tensor

from mirada.layers.masks import Mask, Part
from mirada.watching.call import Call
from mirada.watching.gaze import Gaze, Run
from mirada.watching.look import Look

FORMAT, VERSION = "mirada gaze", 1
PLAIN = ("scale", "softcap", "kernel", "training", "error", "proved", "note", "heads")  # fields of a call


def save(gaze: Gaze, path: str | os.PathLike, dtype: torch.dtype = torch.float32) -> None:
    """Queries and keys as `dtype`, float32 or float16; what is shared is written once."""
    if dtype not in (torch.float32, torch.float16):
        raise ValueError(f"dtype is {dtype}; expected torch.float32 or torch.float16")
    written = _Written(gaze, dtype)
    described = {
        "format": FORMAT,
        "version": VERSION,
        "model": gaze.model,
        "tokens": None if gaze.tokens is None else list(gaze.tokens),
        "unseen": gaze.unseen,
        "runs": [[written.look(look) for look in run] for run in gaze.runs],
    }
    metadata = {"mirada": json.dumps(described)}
    save_file(written.tensors, os.fspath(path), metadata=metadata)


class _Written:
    """The tensors of a file by their names, and what is said of them."""

    def __init__(self, gaze: Gaze, dtype: torch.dtype):
        self.dtype = dtype
        self.tensors: dict[str, Tensor] = {}
        self.names: dict[tuple, str] = {}
        # The steps of a decoding share their keys: each has the first ones of the longest.
        self.longest: dict[int, Tensor] = {}
        for call in (call for run in gaze.runs for look in run for call in look.calls):
            place = call.key.untyped_storage().data_ptr()
            if place not in self.longest or self.longest[place].shape[2] < call.key.shape[2]:
                self.longest[place] = call.key

    def look(self, look: Look) -> dict[str, Any]:
        calls = [self.call(call) for call in look.calls]
        return {
            "path": look.path,
            "kind": look.kind,
            "where": look.where,
            "starts": look.starts,
            "calls": calls,
        }

    def call(self, call: Call) -> dict[str, Any]:
        told = {name: getattr(call, name) for name in PLAIN}
        if told["error"] is not None and not math.isfinite(told["error"]):
            told["error"] = None  # JSON has no NaN; that it is not proved is said as well
        return told | {
            "query": self.put(call.query, self.dtype),
            "key": self.put(self.longest[call.key.untyped_storage().data_ptr()], self.dtype),
            "shape": list(call.shape),
            "mask": None if call.mask is None else [self.part(part) for part in call.mask.parts],
            "sinks": None if call.sinks is None else self.put(call.sinks, torch.float32),
        }

    def part(self, part: Part) -> dict[str, Any]:
        # A bias keeps its precision: in float16 a large one would be −inf, which blocks.
        tensor = None if part.tensor is None else self.put(part.tensor, torch.float32)
        return {
            "kind": part.kind,
            "size": part.size,
            "first": part.first,
            "side": part.side,
            "tensor": tensor,
        }

    def put(self, x: Tensor, dtype: torch.dtype) -> str:
        place = (x.untyped_storage().data_ptr(), x.storage_offset(), x.shape, x.stride(), x.dtype)
        if place not in self.names:
            self.names[place] = f"t{len(self.names)}"
            x = x.to(dtype) if x.is_floating_point() else x
            self.tensors[self.names[place]] = x.detach().cpu().contiguous()
        return self.names[place]


def load_gaze(path: str | os.PathLike) -> Gaze:
    """The gaze that `gaze.save(path)` wrote.

    Raises ValueError for a file that is damaged, is something else, or comes from a newer version.
    """
    if not Path(path).is_file():
        raise ValueError(f"{os.fspath(path)} is not a file; expected one that gaze.save wrote")
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
    gaze.tokens = None if told["tokens"] is None else [_is(token, str) for token in told["tokens"]]
    gaze.unseen = [(_is(path, str), _is(why, str)) for path, why in told["unseen"]]
    for looks in told["runs"]:
        run = Run()
        for look in looks:
            calls = [_call(call, tensors) for call in look["calls"]]
            starts = [_is(start, int) for start in look["starts"]]
            if len(calls) != len(starts) or not calls or look["kind"] not in ("self", "cross"):
                raise KeyError(f"calls of {look['path']}")
            path, kind = _is(look["path"], str), look["kind"]
            run.looks[path, kind] = Look(path, kind, look["where"], calls, starts)
        gaze.runs.append(run)
    return gaze


def _call(told: dict, tensors: dict[str, Tensor]) -> Call:
    shape = tuple(_is(size, int) for size in told["shape"])
    query, key = tensors[told["query"]], tensors[told["key"]][:, :, : shape[3]]
    sinks = None if told["sinks"] is None else tensors[told["sinks"]]
    mask = None
    if told["mask"] is not None:
        mask = Mask(tuple(_part(part, tensors) for part in told["mask"]))
        mask.check(shape)
    fits = query.shape[2] == shape[2] and key.shape[2] == shape[3] and query.shape[3] == key.shape[3]
    if len(shape) != 4 or not fits or len(told["heads"]) != shape[1] or shape[1] % key.shape[1]:
        raise KeyError("shape")
    plain = {name: told[name] for name in PLAIN}
    plain["heads"] = tuple(_is(head, int) for head in told["heads"])
    plain["scale"] = _is(told["scale"], float)
    return Call(query=query, key=key, shape=shape, mask=mask, sinks=sinks, **plain)  # pyright: ignore


def _part(told: dict, tensors: dict[str, Tensor]) -> Part:
    tensor = None if told["tensor"] is None else tensors[told["tensor"]]
    if told["kind"] not in ("causal", "window", "padding", "allowed", "blocked", "bias"):
        raise KeyError(f"mask {told['kind']}")
    if (tensor is None) != (told["kind"] in ("causal", "window")):
        raise KeyError(f"tensor of the mask {told['kind']}")
    if told["kind"] == "padding":
        return Mask.padding(tensor, told["side"]).parts[0]  # pyright: ignore[reportArgumentType]
    return Part(told["kind"], tensor, told["size"], told["first"], told["side"])


def _is(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{value!r} where a {kind.__name__} belongs")
    return value
