"""That attention builds no table, shown by its peak memory at length 10,007, where a table is large.

One head of 16 in float32: query, key, value and output are 0.6 MB each; a table of booleans is 95 MB, one of
scores 382 MB. The cases run in one process of their own, whose high-water mark Linux keeps and can put back.
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

MB = 24  # what a case may take: pieces of the mask and the kernel's own space, but no table
TABLE_MB = 95  # the smallest thing that would be a table

PROGRAM = """
import json, sys, torch
from pathlib import Path
from mirada import Mask, attention
torch.manual_seed(0)
torch.set_num_threads(1)
LENGTH = 10_007

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

def measured(mask, queries, mode):
    mask, gradient = eval(mask), mode == "training"
    run(*made(300, 300, gradient), Mask.window(3))  # whatever is loaded on first use
    inputs = made(queries, LENGTH, gradient)
    Path("/proc/self/clear_refs").write_text("5")
    before = megabytes("VmRSS")
    output = mask(LENGTH) if callable(mask) else run(*inputs, mask)
    return megabytes("VmHWM") - before

print(json.dumps([measured(*case) for case in json.loads(sys.argv[1])]))
"""

CASES = [
    ("Mask.causal()", 10_007, "inference"),
    ("Mask.padding([9_001])", 10_007, "inference"),
    ("Mask.causal() & Mask.padding([9_001])", 10_007, "inference"),
    ("Mask.causal() & Mask.bias(torch.randn(LENGTH))", 10_007, "inference"),
    ("Mask.causal()", 5_003, "inference"),
    ("Mask.causal()", 10_007, "training"),
    ("Mask.causal() & Mask.window(256)", 10_007, "training"),
    ("Mask.causal() & Mask.padding([9_001])", 10_007, "training"),
]
# The causal mask as a tensor, on purpose: first and last, for what one case leaves must not hide another's.
TABLE = ("lambda length: Mask.causal().to_tensor(length, length)", 10_007, "inference")


@pytest.fixture(scope="module")
def used():
    """Megabytes of each case, between those of the two tables."""
    # What is freed goes back at once: else the C library keeps some for later, now more and now less.
    at_once = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-c", PROGRAM, json.dumps([TABLE, *CASES, TABLE])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=at_once)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", range(len(CASES)), ids=[" ".join(map(str, case)) for case in CASES])
def test_no_table_is_built(used, case):
    assert used[1 + case] < MB


def test_a_table_would_be_seen(used):
    """The measure itself."""
    assert min(used[0], used[-1]) > 0.9 * TABLE_MB
