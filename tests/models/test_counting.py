"""Counts and costs: the lesson's, PyTorch's own counter's, and those of what is really kept."""

import re

import pytest
import torch
from small import FAMILIES, KINDS, LENGTH, SOURCE, model_of, run_of
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mirada import BlockConfig
from mirada.models.counting import describe_cost, num_parameters, summary

EVERY = [(family, kind) for family in FAMILIES for kind in KINDS]
# length: weights of a head, megabytes in float32
LESSON = {100: (10_000, 0.04), 1000: (10**6, 4.0), 10_000: (10**8, 400.0), 100_000: (10**10, 40_000.0)}


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_every_line_of_the_summary_is_a_sum_that_comes_out(family, kind):
    model = run_of(family, kind).model
    head, *lines = summary(model).replace(",", "").split("\n")
    total = int(re.search(r": (\d+) parameters$", head)[1])
    assert total == num_parameters(model) == sum(p.numel() for p in set(model.parameters()))
    outer = inner = 0
    for line in lines:
        indent, name, terms, count = re.match(r"( +)(\S+) +(.+) = (\d+)", line).groups()
        numbers = re.sub("[a-z]", "", terms).replace("×", "*")
        assert (eval(numbers) if numbers.strip() else 0) == int(count), line
        if len(indent) == 2:
            outer += int(count)
        else:
            inner += int(count)
        if name.endswith("blocks"):
            each, inner = int(terms.rpartition(" × ")[2]), 0
        if name == "mlp":
            assert inner == each, "the parts of a block make the block"
    assert outer == total


def test_the_summary_of_the_lessons_block():
    said = summary(model_of("encoder", d_model=64, num_heads=4, d_mlp=None, num_blocks=3))
    assert "3 × 49,984 = 149,952, each of them:" in said
    assert "attention                  4 × 64 × 64 weights + 4 × 64 biases = 16,640" in said
    assert "mlp                        64 × 256 + 256 × 64 weights + 256 + 64 biases = 33,088" in said
    assert "norm1                      64 gains + 64 biases = 128" in said


def test_what_is_tied_is_counted_once():
    apart, tied = model_of("decoder"), model_of("decoder", tied=True)
    assert num_parameters(apart) - num_parameters(tied) == 12 * 11 + 11
    assert summary(tied).endswith("the token embedding once more = 0")


@pytest.mark.parametrize("length", LESSON)
def test_the_lessons_table(length):
    weights, megabytes = LESSON[length]
    cost = describe_cost(model_of("encoder", dtype=torch.float32), length)
    (table,) = cost.tables
    assert table.queries * table.keys == weights
    assert table.head_bytes == megabytes * 10**6
    assert table.layer_bytes == 2 * table.head_bytes
    assert cost.table_bytes == table.model_bytes == 2 * 2 * table.head_bytes


def test_a_cost_says_it_in_words():
    assert str(describe_cost(model_of("encoder", dtype=torch.float32), 10000)).startswith(
        "one sample of length 10,000, float32\n"
        "self-attention: 10,000 × 10,000 weights a head, heads: 2, layers: 2\n"
        "  as tables: 400 MB a head, 800 MB a layer, 1.6 GB in all\n"
    )


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_operations_are_those_that_pytorch_counts(family, kind):
    run = run_of(family, kind)
    one = run.of(slice(0, 1))
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        run(**one)
    lengths = (SOURCE, LENGTH) if family == "encoder_decoder" else (LENGTH,)
    assert describe_cost(run.model, *lengths).flops == counter.get_total_flops()


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_fused_kernel_keeps_is_what_autograd_saves(family):
    # float32 and equal heads: PyTorch's kernel saves q, k, v, its output and a log-sum-exp for each row.
    run = run_of(family)
    model = run.model.float()
    saved = []

    def kept(node, seen):
        if node is None or node in seen:
            return
        seen.add(node)
        if "ScaledDotProduct" in node.name():
            saved.append(
                sum(
                    getattr(node, f"_saved_{name}").numel() * getattr(node, f"_saved_{name}").element_size()
                    for name in ("query", "key", "value", "output", "logsumexp")
                )
            )
        for child, _ in node.next_functions:
            kept(child, seen)

    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        logits = run(**run.of(slice(0, 1)))
    kept(logits.grad_fn, set())
    lengths = (SOURCE, LENGTH) if family == "encoder_decoder" else (LENGTH,)
    cost = describe_cost(model, *lengths)
    assert len(saved) == sum(table.layers for table in cost.tables)
    assert sum(saved) == cost.fused_bytes


def test_bytes_follow_the_dtype_and_grouped_heads_keep_less():
    wide, half = (describe_cost(model_of("decoder", dtype=d), 7) for d in (torch.float64, torch.bfloat16))
    assert wide.tables[0].head_bytes == 4 * half.tables[0].head_bytes == 8 * 7 * 7
    grouped = describe_cost(model_of("decoder", block=BlockConfig(num_kv_heads=1)), 7)
    assert wide.fused_bytes - grouped.fused_bytes == 2 * 8 * (2 * 7 * 6)  # a key and a value head less


@pytest.mark.parametrize(
    ("family", "lengths", "says"),
    [
        ("encoder", (3, 5), r"Encoder takes 1 whole lengths of at least 0, got \(3, 5\)"),
        ("encoder_decoder", (3,), r"EncoderDecoder takes 2 whole lengths of at least 0, got \(3,\)"),
        ("decoder", (-1,), r"got \(-1,\)"),
    ],
)
def test_lengths_that_are_none(family, lengths, says):
    with pytest.raises(ValueError, match=says):
        describe_cost(model_of(family), *lengths)
