"""B2: a whole layer, d_model 512, 8 heads, batch 1, float32, inference, against nn.MultiheadAttention."""

import torch
from benchmarks.harness import Result, Row
from torch import Tensor, nn

from mirada import MultiHeadAttention

D_MODEL, HEADS, LENGTH, LONG = 512, 8, 4096, 16_384


def layers(length: int) -> tuple[nn.MultiheadAttention, MultiHeadAttention, Tensor]:
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention(D_MODEL, HEADS).eval()
    return theirs, ours, torch.randn(1, length, D_MODEL)


def output(length: int):
    theirs, ours, x = layers(length)

    @torch.inference_mode()
    def peer() -> Tensor:
        return theirs(x, x, x, need_weights=False)[0]

    @torch.inference_mode()
    def mine() -> Tensor:
        return ours(x)

    return peer, mine


def table(with_output: bool):
    theirs, ours, x = layers(LENGTH)

    @torch.inference_mode()
    def peer() -> tuple[Tensor, Tensor]:
        return theirs(x, x, x, average_attn_weights=False)

    @torch.inference_mode()
    def mine() -> tuple[Tensor | None, Tensor]:
        return ours(x) if with_output else None, ours.weights(x)

    return peer, mine


def lean(result: Result) -> bool:
    """Half the time; and memory too, where it could be measured."""
    little = not (result.peer_mb and result.ours_mb) or result.ours_mb <= 0.08 * result.peer_mb
    return result.ratio <= 0.5 and little


def rows() -> list[Row]:
    work = f"d_model {D_MODEL}, {HEADS} heads, length"
    goal = {"goal": "time ≤ 0.5 ×, memory ≤ 0.08 ×", "reached": lean}
    with_weights = "nn.MultiheadAttention, with every head's weights"
    return [
        Row(f"{work} {LENGTH:,}", "nn.MultiheadAttention", lambda: output(LENGTH), **goal, memory=True),
        Row(
            f"{work} {LENGTH:,}, the full table",
            with_weights,
            lambda: table(with_output=False),
            goal="≤ 0.9 ×",
            reached=lambda result: result.ratio <= 0.9,
            memory=True,
        ),
        Row(
            f"{work} {LENGTH:,}, table and output, two calls",
            with_weights,
            lambda: table(with_output=True),
            memory=True,
        ),
        Row(f"{work} {LONG:,}", "nn.MultiheadAttention", lambda: output(LONG), **goal, memory=True, rounds=3),
    ]
