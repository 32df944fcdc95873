"""Inputs for property tests: shapes, dtypes and masks, each mask with the rule that says it in loops."""

import math
from dataclasses import dataclass

import torch
from beartype import beartype
from hypothesis import strategies as st
from jaxtyping import Float, jaxtyped
from torch import Tensor

import reference
from mirada import Mask, attention, attention_weights


@jaxtyped(typechecker=beartype)
def attend(
    query: Float[Tensor, "*lead queries d"],
    key: Float[Tensor, "*key_lead keys d"],
    value: Float[Tensor, "*key_lead keys dv"],
    *mask: Mask | None,
    **options: float,
) -> Float[Tensor, "*lead queries dv"]:
    """attention, its shapes checked as its signature says them."""
    return attention(query, key, value, *mask, **options)


@jaxtyped(typechecker=beartype)
def weigh(
    query: Float[Tensor, "*lead queries d"],
    key: Float[Tensor, "*key_lead keys d"],
    *mask: Mask | None,
    **options: float,
) -> Float[Tensor, "*lead queries keys"]:
    """attention_weights, its shapes checked as its signature says them."""
    return attention_weights(query, key, *mask, **options)


def shared_out(value: Tensor, query: Tensor) -> Tensor:
    """Each head of the queries with the values of its group, by hand."""
    if value.dim() < 4 or value.shape[-3] == 0:
        return value
    group = query.shape[-3] // value.shape[-3]
    heads = [value[..., head // group, :, :] for head in range(query.shape[-3])]
    return torch.stack(heads, dim=-3)


def close(got: Tensor, wanted: Tensor, dtype: torch.dtype) -> None:
    """Equal to what `dtype` can say: a few units in the last place of the largest number there is."""
    places = {torch.float64: 64, torch.float32: 64, torch.bfloat16: 4, torch.float16: 4}[dtype]
    largest = max(1.0, wanted.abs().max().item() if wanted.numel() else 0.0)
    torch.testing.assert_close(
        got.double(), wanted.double(), rtol=0, atol=places * torch.finfo(dtype).eps * largest
    )


@dataclass(frozen=True)
class Case:
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None
    rule: reference.Rule
    temperature: float

    @property
    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.query, self.key, self.value

    def leaves(self) -> list[Tensor]:
        """The inputs, each asking for a gradient."""
        return [x.clone().requires_grad_() for x in self.inputs]


SIZES = st.sampled_from([1, 2, 3, 5, 7])
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@st.composite
def cases(draw, dtype: torch.dtype | None = None, lengths=SIZES) -> Case:
    dtype = dtype or draw(st.sampled_from(DTYPES))
    lead = draw(st.sampled_from([(), (2,), (2, 3), (1, 4), (2, 6), (0, 3), (2, 1, 3), (3, 2, 1, 2)]))
    queries, keys, d, dv = draw(lengths), draw(lengths), draw(SIZES), draw(SIZES)
    key_lead = lead
    if len(lead) > 1:
        key_lead = (*lead[:-1], draw(st.sampled_from([h for h in (1, 2, 3, 4, 6) if lead[-1] % h == 0])))
    torch.manual_seed(draw(st.integers(0, 2**16)))
    made = [
        torch.randn(*s, dtype=torch.float64).to(dtype)
        for s in ((*lead, queries, d), (*key_lead, keys, d), (*key_lead, keys, dv))
    ]
    mask, rule = draw(masks((*lead, queries, keys)))
    temperature = draw(st.sampled_from([1.0, 0.3, 2.0, 10.0]))
    return Case(*made, mask, rule, temperature)


@st.composite
def masks(draw, shape: tuple[int, ...]) -> tuple[Mask | None, reference.Rule]:
    """Up to three conditions, for scores of this shape."""
    kinds = ["causal", "window", "allowed", "blocked", "bias", *(["padding"] if len(shape) > 2 else [])]
    mask, rules = None, []
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=3)):
        part, rule = draw(parts(kind, shape))
        mask = part if mask is None else mask & part
        rules.append(rule)
    return mask, reference.both(*rules)


@st.composite
def parts(draw, kind: str, shape: tuple[int, ...]) -> tuple[Mask, reference.Rule]:
    if kind == "causal":
        first = draw(st.sampled_from([None, 0, 2]))
        return Mask.causal(first=first), reference.causal(first)
    if kind == "window":
        size = draw(st.integers(1, 4))
        return Mask.window(size), reference.window(size)
    if kind == "padding":
        lengths = draw(st.lists(st.integers(0, shape[-1]), min_size=shape[0], max_size=shape[0]))
        side = draw(st.sampled_from(["right", "left"]))
        return Mask.padding(lengths, side), reference.padding(lengths, side)
    # A table: some of the last dimensions of the scores, some of those of size 1.
    kept = shape[len(shape) - draw(st.integers(0, len(shape))) :]
    sizes = [draw(st.sampled_from([1, size])) for size in kept]
    torch.manual_seed(draw(st.integers(0, 2**16)))
    hidden = torch.rand(sizes) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    if kind == "allowed":
        return Mask.allowed(~hidden), reference.table(~hidden, blocked=False)
    if kind == "blocked":
        return Mask.blocked(hidden), reference.table(hidden, blocked=True)
    bias = torch.randn(sizes).masked_fill(hidden, -math.inf)
    return Mask.bias(bias), reference.table(bias)
