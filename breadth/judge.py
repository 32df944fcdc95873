"""What watching one family gives, beside what an unwatched run and the eager attention say."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

import torch
from breadth.audit import places
from breadth.build import NotBuilt, build, run
from breadth.eager import compare
from breadth.families import Family
from breadth.inputs import shapes
from breadth.mixing import alone
from torch import Tensor, nn
from transformers import PreTrainedModel

import mirada

WHOLE, PART, UNSEEN, NONE, NOT_BUILT, WRONG = (
    "whole and exact",
    "in part",
    "not seen",
    "no attention in it",
    "not built",
    "wrong",
)


@dataclass
class Verdict:
    family: str
    verdict: str = NOT_BUILT
    model: str = ""  # the class
    inputs: str = ""
    looks: int = 0
    error: float | None = None  # the largest that the proofs of watch found
    compared: int = 0  # looks laid beside eager's weights
    eager: float | None = None  # the largest difference from them
    other: list[str] = field(default_factory=list)  # modules whose eager twin computes something else
    sentence: str = ""
    missing: list[tuple[str, str]] = field(default_factory=list)  # (module, why): attention that was not seen
    alone: list[str] = field(default_factory=list)  # modules whose softmax mixes no places: no attention
    unproved: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)


def judge(family: Family) -> Verdict:
    try:
        model, inputs = build(family)
    except NotBuilt as reason:
        return Verdict(family.name, sentence=str(reason))
    verdict = Verdict(family.name, model=type(model).__name__, inputs=shapes(inputs))
    plain, again = (list(tensors(run(model, inputs))) for _ in range(2))
    if not same(plain, again):
        verdict.sentence = "two unwatched runs from one seed differ: nothing to compare with"
        return verdict
    done = places(model, lambda: run(model, inputs))
    gaze = None
    try:
        with mirada.watch(model) as gaze:
            watched = list(tensors(run(model, inputs)))
    except mirada.NothingSeen as nothing:
        gaze = None
        verdict.sentence = str(nothing)
        watched = list(tensors(run(model, inputs)))
    except Exception as error:
        verdict.verdict, verdict.sentence = (
            WRONG,
            f"watching stopped the model: {type(error).__name__}: {error}",
        )
        return verdict
    if not same(plain, watched):
        verdict.wrong.append(("", "outputs with and without watching differ"))
    if gaze is not None:
        _looks(verdict, gaze, model, inputs, done)
    verdict.verdict = _class(verdict, model, done)
    return verdict


def _looks(
    verdict: Verdict, gaze: Any, model: PreTrainedModel, inputs: dict[str, Any], done: dict[str, str]
) -> None:
    looks = [look for turn in gaze.runs for look in turn]
    verdict.looks, verdict.error = len(looks), gaze.error
    verdict.unproved = [
        (look.path, f"{look.note} ({look.kind}, error {look.error})")
        for look in looks
        if look.proved is not True
    ]
    verdict.alone = alone(model, inputs, [path for path, _ in gaze.unseen])
    verdict.missing = [(path, sentence) for path, sentence in gaze.unseen if path not in verdict.alone]
    known = {look.path for look in looks} | {path for path, _ in gaze.unseen}
    for path, how in done.items():
        if not any(path == k or path.startswith(k + ".") or k.startswith(path + ".") for k in known):
            verdict.missing.append((path, f"{how} there, of which the gaze says nothing"))
    try:
        laid = compare(model, inputs, looks)
    except Exception as error:
        verdict.sentence = f"not laid beside eager: {type(error).__name__}: {str(error)[:120]}"
        return
    verdict.compared, verdict.other = len(laid.found), laid.other
    verdict.eager = max((difference for _, difference, _ in laid.found), default=None)
    for look, difference, allowed in laid.found:
        if difference > allowed and look.proved is True:
            verdict.wrong.append((look.path, f"proved, yet {difference:.1e} from eager's weights"))


def _class(verdict: Verdict, model: nn.Module, done: dict[str, str]) -> str:
    if verdict.wrong:
        return WRONG
    if verdict.looks:
        return PART if verdict.missing or verdict.unproved else WHOLE
    named = sorted(
        {type(m).__name__ for m in model.modules() if re.search("(?i)attention|attn", type(m).__name__)}
    )
    if not named and not done:
        return NONE
    verdict.missing = sorted(done.items())
    return UNSEEN


def tensors(output: Any, depth: int = 0) -> Iterator[Tensor]:
    """Every tensor in an output, in a fixed order: of dicts, sequences, dataclasses and caches."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, dict):
        for value in output.values():
            yield from tensors(value, depth + 1)
    elif isinstance(output, list | tuple):
        for value in output:
            yield from tensors(value, depth + 1)
    elif depth < 6 and (
        is_dataclass(output) or "Cache" in type(output).__name__ or "Layer" in type(output).__name__
    ):
        for value in vars(output).values():
            yield from tensors(value, depth + 1)


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    """Bit for bit; NaN is equal to NaN."""
    return len(one) == len(other) and all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and (
            torch.equal(a, b)
            or (torch.equal(torch.isnan(a), torch.isnan(b)) and torch.equal(a.nan_to_num(), b.nan_to_num()))
        )
        for a, b in zip(one, other, strict=True)
    )


def record(verdict: Verdict) -> dict[str, Any]:
    return asdict(verdict)
