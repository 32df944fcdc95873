"""That the long view builds no table, shown by its peak memory at 32,768 tokens, in processes of their own.

One head of 16 in float32: query and key are 2 MB each; a table of booleans is 1,074 MB, of weights 4,295 MB.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the high-water mark can be put back on Linux only"
)

MB = 100
PROGRAM = """
import json, sys, torch
from pathlib import Path
from mirada import Mask
from mirada.watching.head import Head
from mirada.watching.longview import received, regions, summarise, tiles
torch.manual_seed(0)
torch.set_num_threads(1)
LENGTH = 32_768

def megabytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

def made(length, mask):
    return Head(torch.randn(length, 16), torch.randn(length, 16), 0.25, mask)

ask = eval("lambda head: " + sys.argv[1])
ask(made(300, Mask.window(3)))  # whatever is loaded on first use
head = made(LENGTH, eval(sys.argv[2]))
Path("/proc/self/clear_refs").write_text("5")
before = megabytes("VmRSS")
answer = ask(head)
print(json.dumps(megabytes("VmHWM") - before))
"""


def megabytes(ask: str, mask: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, ask, mask], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("ask", "mask"),
    [
        ("summarise(head)", "Mask.causal()"),
        # A few rows show as much where all would only take longer: the space is that of a block.
        ("summarise(head, rows=slice(-999, None))", "None"),
        (
            "summarise(head, rows=slice(-999, None))",
            "Mask.padding([30_000]) & Mask.bias(torch.randn(LENGTH))",
        ),
        ("received(head)", "Mask.causal() & Mask.window(2_000)"),
        ("regions(head, [0, 9, 299], [0, 9, head.keys])", "None"),
        ("tiles(head)", "Mask.causal() & Mask.window(2_000)"),
    ],
)
def test_no_table_is_built(ask, mask):
    used = megabytes(ask, mask)
    assert used < MB, f"{used:.0f} MB"


def test_a_table_would_be_seen():
    """The measure itself: a sixteenth of the table, on purpose."""
    assert megabytes("head.weights(slice(0, min(2048, head.rows)))", "None") > 250
