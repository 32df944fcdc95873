"""B1: the output of attention, batch 1, 8 heads of 64, float32, inference, against PyTorch's fused kernel."""

import torch
import torch.nn.functional as F
from benchmarks.harness import Row
from torch import Tensor

from mirada import Mask, attention

LENGTH = 4096
LONG = 16_384


def inputs(length: int, heads: int = 8) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(1, heads, length, 64) for _ in range(3)]


def causal_table(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


@torch.inference_mode()
def sdpa(q, k, v, mask=None, causal=False) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


@torch.inference_mode()
def ours(q, k, v, mask=None) -> Tensor:
    return attention(q, k, v, mask)


@torch.inference_mode()
def naive(q, k, v) -> Tensor:
    return (q @ k.transpose(-2, -1) / 8).softmax(-1) @ v


def rows() -> list[Row]:
    def no_mask():
        q, k, v = inputs(LENGTH)
        return lambda: sdpa(q, k, v), lambda: ours(q, k, v)

    def causal():
        q, k, v = inputs(LENGTH)
        return lambda: sdpa(q, k, v, causal=True), lambda: ours(q, k, v, Mask.causal())

    def padding():
        q, k, v = inputs(LENGTH)
        return lambda: sdpa(q, k, v), lambda: ours(q, k, v, Mask.padding([LENGTH - 99]))

    def causal_padding():
        q, k, v = inputs(LENGTH)
        # Built within the run, as a model has to for each batch.
        table = causal_table(LENGTH)
        real = (torch.arange(LENGTH) < LENGTH - 99).view(1, 1, 1, LENGTH)
        return lambda: sdpa(q, k, v, table & real), lambda: ours(
            q, k, v, Mask.causal() & Mask.padding([LENGTH - 99])
        )

    def window():
        q, k, v = inputs(LENGTH)
        table = causal_table(LENGTH).triu(-255)
        return lambda: sdpa(q, k, v, table), lambda: ours(q, k, v, Mask.causal() & Mask.window(256))

    def prefill():
        q, k, v = inputs(LENGTH)
        q = q[:, :, LENGTH // 2 :]
        table = causal_table(LENGTH)[LENGTH // 2 :]
        return lambda: sdpa(q, k, v, table), lambda: ours(q, k, v, Mask.causal())

    def by_hand():
        q, k, v = inputs(LENGTH)
        return lambda: naive(q, k, v), lambda: ours(q, k, v)

    def long_causal():
        q, k, v = inputs(LONG, heads=1)
        return lambda: sdpa(q, k, v, causal_table(LONG)), lambda: ours(q, k, v, Mask.causal())

    def ratio(limit: float):
        return {"goal": f"≤ {limit} ×", "reached": lambda result: result.ratio <= limit}

    work = f"8 heads of 64, length {LENGTH:,}"
    return [
        Row(f"no mask, {work}", "SDPA", no_mask, **ratio(1.02), memory=True, rounds=31),
        Row(f"causal, {work}", "SDPA, is_causal", causal, **ratio(1.02), memory=True, rounds=31),
        Row(f"padding, {work}", "SDPA without a mask", padding, **ratio(1.1), memory=True, rounds=31),
        Row(f"causal and padding, {work}", "SDPA, boolean table", causal_padding, memory=True),
        Row(f"causal window of 256, {work}", "SDPA, boolean table", window, memory=True),
        Row(f"causal, the last {LENGTH // 2:,} of {LENGTH:,}", "SDPA, boolean table", prefill, memory=True),
        Row(f"no mask, {work}", "softmax by hand", by_hand, memory=True, rounds=3),
        Row(f"causal, 1 head, length {LONG:,}", "SDPA, boolean table", long_causal, memory=True, rounds=3),
    ]
