"""That the long view builds no table, shown by its peak memory at 16,411 tokens, in a process of their own.

One head of 16 in float32: query and key are 1 MB each; a table of booleans is 257 MB, of weights 1,027 MB.
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

MB = 64
PROGRAM = """
import json, sys, torch
from pathlib import Path
from mirada import Mask
from mirada.watching.head import Head
from mirada.watching.longview import received, regions, summarise, tiles
torch.manual_seed(0)
torch.set_num_threads(1)
LENGTH = 16_411

def megabytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

def made(length, mask):
    return Head(torch.randn(length, 16), torch.randn(length, 16), 0.25, mask)

def measured(ask, mask):
    ask = eval("lambda head: " + ask)
    ask(made(300, Mask.window(3)))  # whatever is loaded on first use
    head = made(LENGTH, eval(mask))
    Path("/proc/self/clear_refs").write_text("5")
    before = megabytes("VmRSS")
    answer = ask(head)
    return megabytes("VmHWM") - before

print(json.dumps([measured(*case) for case in json.loads(sys.argv[1])]))
"""

CASES = [
    ("summarise(head)", "Mask.causal()"),
    # A few rows show as much where all would only take longer: the space is that of a block.
    ("summarise(head, rows=slice(-1_999, None))", "None"),
    ("summarise(head, rows=slice(-1_999, None))", "Mask.padding([15_000]) & Mask.bias(torch.randn(LENGTH))"),
    ("received(head)", "Mask.causal() & Mask.window(2_000)"),
    ("regions(head, [0, 9, 299], [0, 9, head.keys])", "None"),
    ("tiles(head)", "Mask.causal() & Mask.window(2_000)"),
]
# An eighth of the table, on purpose: first and last, for what one case leaves must not hide another's.
TABLE = ("head.weights(slice(0, min(2048, head.rows)))", "None")


@pytest.fixture(scope="module")
def used():
    """Megabytes of each case, between those of the two tables."""
    # What is freed goes back at once: else the C library keeps some for later, now more and now less.
    at_once = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-c", PROGRAM, json.dumps([TABLE, *CASES, TABLE])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=at_once)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", range(len(CASES)), ids=[" with ".join(case) for case in CASES])
def test_no_table_is_built(used, case):
    assert used[1 + case] < MB


def test_a_table_would_be_seen(used):
    """The measure itself."""
    assert min(used[0], used[-1]) > 125
