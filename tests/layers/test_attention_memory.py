"""That attention builds no table, shown by its peak memory at length 16,384, where a table is large.

One head of 16 in float32: query, key, value and output are 1 MB each; a table of booleans is 256 MB, one of
scores 1,024 MB. Each case runs in a process of its own, whose high-water mark Linux keeps and can put back.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the high-water mark can be put back on Linux only"
)

MB = 64  # what a case may take: pieces of the mask and the kernel's own space, but no table
TABLE_MB = 256  # the smallest thing that would be a table

PROGRAM = """
import json, sys, torch
from pathlib import Path
from mirada import Mask, attention
torch.manual_seed(0)
torch.set_num_threads(1)
LENGTH = 16_384

def megabytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

def run(query, key, value, mask):
    output = attention(query, key, value, mask)
    if output.requires_grad:
        output.sum().backward()
    return output

def made(queries, keys, gradient):
    return [torch.randn(1, 1, n, 16, requires_grad=gradient) for n in (queries, keys, keys)]

mask, queries, gradient = eval(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "training"
run(*made(300, 300, gradient), Mask.window(3))  # whatever is loaded on first use
inputs = made(queries, LENGTH, gradient)
Path("/proc/self/clear_refs").write_text("5")
before = megabytes("VmRSS")
output = mask(LENGTH) if callable(mask) else run(*inputs, mask)
print(json.dumps(megabytes("VmHWM") - before))
"""


def megabytes(mask: str, queries: int = 16_384, mode: str = "inference") -> float:
    # What is freed goes back at once: else the C library keeps some for later, now more and now less.
    at_once = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-c", PROGRAM, mask, str(queries), mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=at_once)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("mask", "queries", "mode"),
    [
        ("Mask.causal()", 16_384, "inference"),
        ("Mask.padding([15_000])", 16_384, "inference"),
        ("Mask.causal() & Mask.padding([15_000])", 16_384, "inference"),
        ("Mask.causal() & Mask.bias(torch.randn(LENGTH))", 16_384, "inference"),
        ("Mask.causal()", 8_191, "inference"),
        ("Mask.causal()", 16_384, "training"),
        ("Mask.causal() & Mask.window(256)", 16_384, "training"),
        ("Mask.causal() & Mask.padding([15_000])", 16_384, "training"),
    ],
)
def test_no_table_is_built(mask, queries, mode):
    used = megabytes(mask, queries, mode)
    assert used < MB, f"{used:.0f} MB"


def test_a_table_would_be_seen():
    """The measure itself: the causal mask as a tensor, on purpose."""
    assert megabytes("lambda length: Mask.causal().to_tensor(length, length)") > 0.9 * TABLE_MB
