"""Right answers as other people would write them: other functions, other types, other precision."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import mirada
from mirada import exercises


def attention_with_loops(query, key, value):
    rows = query.reshape(-1, *query.shape[-2:]).double()
    keys = key.reshape(-1, *key.shape[-2:]).double()
    values = value.reshape(-1, *value.shape[-2:]).double()
    out = []
    for q, k, v in zip(rows, keys, values, strict=True):
        for row in q:
            powers = [math.exp(float(row @ other) / math.sqrt(len(row))) for other in k]
            total = sum(powers)
            out.append(sum(power / total * taken for power, taken in zip(powers, v, strict=True)))
    return torch.stack(out).reshape(*query.shape[:-1], value.shape[-1])


def six_lines(query, key, value):
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    return weights @ value, weights


class Scaled(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def numpy_softmax(scores, T):
    powers = np.exp(scores.numpy() / T)
    return powers / powers.sum(-1, keepdims=True)


def renormalised(scores, blocked):
    powers = scores.exp() * ~blocked
    return powers / powers.sum(-1, keepdim=True)


def heads_in_a_loop(x, n):
    width = x.shape[-1] // n
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(n)], 1)


def patches_with_loops(image, size):
    rows, columns = image.shape[1] // size, image.shape[2] // size
    return [
        image[:, r * size : (r + 1) * size, c * size : (c + 1) * size].flatten()
        for r in range(rows)
        for c in range(columns)
    ]


def counted_by_pytorch(d_model, num_heads, d_mlp):
    block = nn.TransformerEncoderLayer(d_model, num_heads, d_mlp, device="meta")
    return sum(p.numel() for p in block.parameters())


def newest_first(query, key, value, cache):
    keys, values = torch.cat([key, cache[0]]), torch.cat([value, cache[1]])
    return F.scaled_dot_product_attention(query, keys, values), [keys, values]


def masked_padding(scores, lengths):
    out = torch.zeros_like(scores)
    for sample, length in enumerate(lengths.tolist()):
        out[sample, :, :length] = scores[sample, :, :length].softmax(-1)
    return out.tolist()


def lone_sine(length, d):
    pos, column = np.arange(length)[:, None], np.arange(d)
    angles = pos / 10000 ** ((column // 2 * 2) / d)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


def mirror(weights):
    out = [0.0] * weights.shape[1]
    for sample in weights.double():
        for head, table in enumerate(sample):
            out[head] += sum(float(table[i, len(table) - 1 - i]) for i in range(len(table))) / len(table)
    return [total / len(weights) for total in out]


ANSWERS = [
    ("row_by_hand", (0.019, 0.324, 0.657)),
    ("row_by_hand", ["0,02", "0,32", "0.66"]),
    ("row_by_hand", torch.tensor([[0.02, 0.32, 0.66]], dtype=torch.float64, requires_grad=True)),
    ("write_attention", attention_with_loops),
    ("write_attention", six_lines),
    ("write_attention", Scaled()),
    ("write_attention", mirada.attention),
    ("write_attention", lambda a, b, c: mirada.attention(a.double(), b.double(), c.double())),
    ("sqrt_d", [4, 8, 20]),
    ("sqrt_d", np.sqrt([16, 64, 400])),
    ("sqrt_d", ["4", Fraction(8), 20]),
    ("sqrt_d", torch.tensor([4, 8, 20])),
    ("temperature", numpy_softmax),
    ("temperature", lambda s, t: (s.double() / t - (s.double() / t).logsumexp(-1, keepdim=True)).exp()),
    ("what_61_percent_means", [[0, 0], [0, 3], [-1, 7], [2, 2]]),
    ("what_61_percent_means", np.eye(4, 2, k=-2)),
    ("split_heads", heads_in_a_loop),
    ("split_heads", lambda x, n: torch.stack(x.chunk(n, -1), 1)),
    ("broken_softmax", lambda q, k: mirada.attention_weights(q, k)),
    ("broken_scale", lambda q, k: mirada.attention_weights(q, k).double()),
    ("broken_heads", lambda x: x.movedim(1, 2).flatten(2)),
    ("write_the_mask", lambda n: [[column <= row for column in range(n)] for row in range(n)]),
    ("write_the_mask", lambda n: np.tri(n, dtype=int)),
    ("write_the_mask", lambda n: torch.arange(n)[:, None] >= torch.arange(n)),
    ("padding", masked_padding),
    ("broken_mask", renormalised),
    ("broken_mask", lambda s, b: torch.where(b, -1e9, s.double()).softmax(-1)),
    ("permutation", lambda out, order: out[order.argsort()]),
    ("permutation", lambda out, order: [out[order.tolist().index(i)] for i in range(len(order))]),
    ("odd_sinusoid", lone_sine),
    ("odd_sinusoid", mirada.sinusoidal_positions),
    ("broken_positions", lambda x, table: x + table[None, : x.size(1)]),
    ("count_block", counted_by_pytorch),
    ("count_block", lambda d, h, m: 4 * d * d + 2 * d * m + 9 * d + m),
    ("cross_attention", lambda x, c, a, b, v: F.scaled_dot_product_attention(x @ a, c @ b, c @ v)),
    ("blind_ceiling", 0.3172),
    ("blind_ceiling", "0,317"),
    ("blind_ceiling", [Fraction(317, 1000)]),
    ("causal_reversal", torch.tensor([0.1] * 4 + [1.0] * 4)),
    ("causal_reversal", ([0.1] * 4) + [1] * 4),
    ("sort_instead", lambda rows: rows.sort(dim=1, stable=True).indices),
    (
        "sort_instead",
        lambda rows: [sorted(range(len(row)), key=lambda i: (row[i], -i)) for row in rows.tolist()],
    ),
    ("read_a_head", mirror),
    ("cut_patches", patches_with_loops),
    ("cut_patches", lambda image, size: F.unfold(image[None], size, stride=size)[0].T),
    ("overlay", lambda w, r, c, s: np.kron(w[1:].reshape(r, c).numpy(), np.ones((s, s)))),
    ("kv_cache", newest_first),
]


@pytest.mark.parametrize(("name", "answer"), ANSWERS, ids=[name for name, _ in ANSWERS])
def test_a_right_answer_written_differently_passes(name, answer):
    assert getattr(exercises, name).check(answer).status == "correct"


def test_every_exercise_was_tried():
    assert {name for name, _ in ANSWERS} == set(exercises.ENTRIES)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_chapter_s_model_can_be_read(dtype):
    """The function of `read_a_head` is for real weights too: a head that looks only at the mirror."""
    table = torch.eye(8, dtype=dtype).flip(1).expand(5, 2, 8, 8)
    assert exercises.read_a_head.solution(table).tolist() == [1, 1]
