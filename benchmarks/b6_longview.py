"""B6: the 16 largest weights, log-sum-exp and entropy of every row of one head of 64, float32, against SDPA.

The peer only makes the output; a table of 100,000 tokens would be 40,000 MB.
"""

import torch
import torch.nn.functional as F
from benchmarks.harness import Row

from mirada import Mask
from mirada.watching.head import Head
from mirada.watching.longview import summarise


@torch.inference_mode()
def sdpa(query, key, value, causal=False) -> torch.Tensor:
    return F.scaled_dot_product_attention(
        query[None, None], key[None, None], value[None, None], is_causal=causal
    )


def rows() -> list[Row]:
    def made(length: int, rows: int | None = None, mask: Mask | None = None):
        """All rows of `length` tokens, or only the last ones, which take their share of the time."""

        def setup():
            torch.manual_seed(0)
            query, key, value = (torch.randn(length, 64) for _ in range(3))
            head, last = Head(query, key, 0.125, mask), slice(length - (rows or length), None)
            peer = lambda: sdpa(query[last], key, value, causal=mask is not None)  # noqa: E731
            return peer, lambda: summarise(head, 16, last)

        return setup

    def goal(limit: float, megabytes: float):
        return {
            "goal": f"≤ {limit} ×, ≤ {megabytes:.0f} MB",
            "reached": lambda result: result.ratio <= limit and (result.ours_mb or 0) <= megabytes,
        }

    def time(limit: float):
        return {"goal": f"≤ {limit} ×", "reached": lambda result: result.ratio <= limit}

    # All the rows take half a minute on each side: twice is enough to see their memory.
    return [
        Row("length 10,000", "SDPA", made(10_000), **goal(1.6, 100), memory=True),
        Row("length 10,000, causal", "SDPA, is_causal", made(10_000, mask=Mask.causal()), memory=True),
        Row("length 100,000, the last 4,096", "SDPA", made(100_000, 4_096), **time(1.3)),
        Row("length 100,000, all rows", "SDPA", made(100_000), **goal(1.3, 100), memory=True, rounds=2),
    ]
