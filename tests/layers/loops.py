"""The layers once more, as loops over plain numbers in float64: slow, and too simple to be wrong."""

import math

import torch

NEVER = -math.inf


def attend(queries, keys, values, bias=None):
    """One head of one sample. `bias[i][j]` is added to a score; -inf forbids the look.

    Returns weights (queries × keys) and outputs (queries × width of the values), as lists.
    """
    weights, outputs = [], []
    for i, query in enumerate(queries):
        scores = []
        for j, key in enumerate(keys):
            product = sum(q * k for q, k in zip(query, key, strict=True))
            scores.append(product / math.sqrt(len(query)) + (bias[i][j] if bias else 0.0))
        largest = max((s for s in scores if s > NEVER), default=0.0)
        exps = [math.exp(s - largest) if s > NEVER else 0.0 for s in scores]
        total = sum(exps)
        row = [e / total if total else 0.0 for e in exps]
        weights.append(row)
        outputs.append(
            [sum(w * value[c] for w, value in zip(row, values, strict=True)) for c in range(len(values[0]))]
        )
    return weights, outputs


def linear(weight, bias, row):
    """weight · row + bias, for one place."""
    sums = [sum(w * x for w, x in zip(line, row, strict=True)) for line in weight]
    return [s + b for s, b in zip(sums, bias, strict=True)] if bias else sums


def multihead(layer, x, context=None, bias=None):
    """(weights, output) of a MultiHeadAttention, head by head; `bias` is (batch, queries, keys)."""
    heads, groups, width = layer.num_heads, layer.num_kv_heads, layer.head_dim
    values = {name: p.detach().double().tolist() for name, p in layer.named_parameters()}
    q, kv = heads * width, groups * width
    if "qkv_proj.weight" in values:
        joint, joint_bias = values["qkv_proj.weight"], values.get("qkv_proj.bias")
    else:
        joint = values["query_proj.weight"] + values["kv_proj.weight"]
        joint_bias = values.get("query_proj.bias")
        joint_bias = joint_bias and joint_bias + values["kv_proj.bias"]
    all_weights, all_outputs = [], []
    for b, sample in enumerate(x.double().tolist()):
        seen = sample if context is None else context[b].double().tolist()

        def project(rows, start, stop):
            return [linear(joint[start:stop], joint_bias and joint_bias[start:stop], row) for row in rows]

        sample_weights, joined = [], [[] for _ in sample]
        for head in range(heads):
            group = head // (heads // groups)  # consecutive heads share a group
            at = head * width, (head + 1) * width
            kv_at = group * width, (group + 1) * width
            weights, outputs = attend(
                project(sample, at[0], at[1]),
                project(seen, q + kv_at[0], q + kv_at[1]),
                project(seen, q + kv + kv_at[0], q + kv + kv_at[1]),
                None if bias is None else bias[b].tolist(),
            )
            sample_weights.append(weights)
            for row, output in zip(joined, outputs, strict=True):
                row.extend(output)
        all_weights.append(sample_weights)
        output_bias = values.get("output_proj.bias")
        all_outputs.append([linear(values["output_proj.weight"], output_bias, row) for row in joined])
    return torch.tensor(all_weights, dtype=torch.float64), torch.tensor(all_outputs, dtype=torch.float64)


def layer_norm(row, weight, bias, eps):
    mean = sum(row) / len(row)
    spread = math.sqrt(sum((r - mean) ** 2 for r in row) / len(row) + eps)
    scaled = [(r - mean) / spread * w for r, w in zip(row, weight, strict=True)]
    return [s + b for s, b in zip(scaled, bias, strict=True)] if bias else scaled


def rms_norm(row, weight, eps):
    size = math.sqrt(sum(r * r for r in row) / len(row) + eps)
    return [r / size * w for r, w in zip(row, weight, strict=True)]


BEND = {
    "relu": lambda t: max(t, 0.0),
    "gelu": lambda t: t * 0.5 * (1 + math.erf(t / math.sqrt(2))),
    "gelu_tanh": lambda t: t * 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (t + 0.044715 * t**3))),
    "silu": lambda t: t / (1 + math.exp(-t)),
}


def block(layer, x, context=None, bias=None):
    """The output of a TransformerBlock; `bias` is that of its self-attention."""
    config = layer.config
    numbers = {name: p.detach().double().tolist() for name, p in layer.named_parameters()}

    def normed(name, rows):
        weight = numbers[f"{name}.weight"]
        if config.norm == "rms":
            return [rms_norm(row, weight, config.eps) for row in rows]
        return [layer_norm(row, weight, numbers.get(f"{name}.bias"), config.eps) for row in rows]

    def mlp(rows):
        def project(name, row):
            return linear(numbers[f"mlp.{name}.weight"], numbers.get(f"mlp.{name}.bias"), row)

        results = []
        for row in rows:
            hidden = project("hidden_proj", row)
            if config.activation == "swiglu":
                gate = [BEND["silu"](g) for g in project("gate_proj", row)]
                hidden = [g * h for g, h in zip(gate, hidden, strict=True)]
            else:
                hidden = [BEND[config.activation](h) for h in hidden]
            results.append(project("output_proj", hidden))
        return results

    def look(heads, samples, seen=None):
        samples = torch.tensor(samples, dtype=torch.float64)
        return multihead(heads, samples, seen, bias if seen is None else None)[1].tolist()

    steps = [("norm1", lambda rows: look(layer.attention, rows))]
    if context is not None:
        steps.append(("norm_cross", lambda rows: look(layer.cross_attention, rows, context)))
    steps.append(("norm2", lambda rows: [mlp(sample) for sample in rows]))
    for norm, step in steps:
        if config.norm_first:
            added = step([normed(norm, sample) for sample in x.double().tolist()])
            x = x.double() + torch.tensor(added, dtype=torch.float64)
        else:
            total = x.double() + torch.tensor(step(x.double().tolist()), dtype=torch.float64)
            x = torch.tensor([normed(norm, sample) for sample in total.tolist()], dtype=torch.float64)
    return x
