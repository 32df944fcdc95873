"""B3: a training step of the block (forward, backward, Adam), float32, against nn.TransformerEncoderLayer."""

import torch
from benchmarks.harness import Row, Run
from torch import nn

from mirada import TransformerBlock

BATCH, LENGTH = 32, 128


def step(layer: nn.Module, x: torch.Tensor) -> Run:
    optimizer = torch.optim.Adam(layer.parameters(), fused=True)

    def run() -> None:
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()

    return run


def blocks(d_model: int, heads: int, d_mlp: int) -> tuple[Run, Run]:
    torch.manual_seed(0)
    x = torch.randn(BATCH, LENGTH, d_model)
    peer = nn.TransformerEncoderLayer(d_model, heads, d_mlp, dropout=0.0, batch_first=True, norm_first=True)
    return step(peer, x), step(TransformerBlock(d_model, heads, d_mlp), x)


def rows() -> list[Row]:
    def row(d_model: int, heads: int, d_mlp: int, limit: float, rounds: int) -> Row:
        return Row(
            f"training step, d {d_model}, {heads} heads, MLP {d_mlp:,}, batch {BATCH}, length {LENGTH}",
            "nn.TransformerEncoderLayer",
            lambda: blocks(d_model, heads, d_mlp),
            goal=f"≤ {limit} ×",
            reached=lambda result: result.ratio <= limit,
            rounds=rounds,
        )

    return [row(64, 4, 256, 0.85, 101), row(512, 8, 2048, 0.97, 25)]
