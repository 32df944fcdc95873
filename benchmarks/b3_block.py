"""B3: a training step of the block (forward, backward, Adam), float32, against nn.TransformerEncoderLayer."""

import torch
import torch.nn.functional as F
from benchmarks.harness import Row, Run
from torch import Tensor, nn

from mirada import TransformerBlock

BATCH, LENGTH = 32, 128


def step(layer: nn.Module, x: Tensor) -> Run:
    optimizer = torch.optim.Adam(layer.parameters(), fused=True)

    def run() -> None:
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()

    return run


class Plain(nn.Module):
    """The block with every check, option and name left out: about the least that a step can take."""

    def __init__(self, d_model: int, heads: int, d_mlp: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.output = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, d_mlp), nn.Linear(d_mlp, d_model)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.output(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(self.norm2(x))))


def blocks(d_model: int, heads: int, d_mlp: int) -> tuple[Run, Run]:
    torch.manual_seed(0)
    x = torch.randn(BATCH, LENGTH, d_model)
    peer = nn.TransformerEncoderLayer(d_model, heads, d_mlp, dropout=0.0, batch_first=True, norm_first=True)
    return step(peer, x), step(TransformerBlock(d_model, heads, d_mlp), x)


def against_plain() -> tuple[Run, Run]:
    torch.manual_seed(0)
    x = torch.randn(BATCH, LENGTH, 64)
    return step(Plain(64, 4, 256), x), step(TransformerBlock(64, 4, 256), x)


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

    plain = Row(
        f"training step, d 64, 4 heads, MLP 256, batch {BATCH}, length {LENGTH}",
        "a fused block of ten lines",
        against_plain,
        rounds=101,
    )
    return [row(64, 4, 256, 0.85, 101), plain, row(512, 8, 2048, 0.97, 25)]
