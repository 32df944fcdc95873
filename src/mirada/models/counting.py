"""How large a model is, and by what sum; what a length costs it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from mirada.layers.block import MLP, TransformerBlock
from mirada.layers.multihead import MultiHeadAttention
from mirada.models.decoder import Decoder
from mirada.models.encoder import Encoder
from mirada.models.encoder_decoder import EncoderDecoder
from mirada.models.parts import Stack, TokenEmbedding, uncompiled
from mirada.models.vision import PatchEmbedding, VisionTransformer

Model = Encoder | Decoder | EncoderDecoder | VisionTransformer


def num_parameters(model: nn.Module) -> int:
    """How many numbers the model learns; what two of its parts share is counted once."""
    return sum(parameter.numel() for parameter in model.parameters())


def summary(model: Model) -> str:
    """Each part of the model with its parameters, and the sum by which they come about. Blocks of a stack
    are all alike: the first is spelled out. TypeError for another model.
    """
    model = _known(model)
    lines = [f"{type(model).__name__}: {num_parameters(model):,} parameters"]
    for name, part in model.named_children():
        if isinstance(part, Stack):
            lines += _of_stack(name, part)
        elif isinstance(part, TokenEmbedding | PatchEmbedding):
            lines += [_line(f"{name}.{inner}", table) for inner, table in part.named_children()]
        else:
            lines.append(_line(name, part))
    if model.output_proj is None:
        lines.append(f"  {'output':<28} the token embedding once more = 0")
    return "\n".join(lines)


def _known(model: nn.Module) -> Model:
    model = uncompiled(model)
    if not isinstance(model, Model):
        expected = "an Encoder, a Decoder, an EncoderDecoder or a VisionTransformer"
        raise TypeError(f"expected {expected}, whose parts are known, got {type(model).__name__}")
    return model


def _of_stack(name: str, stack: Stack) -> Iterator[str]:
    count, each = len(stack.blocks), num_parameters(stack.blocks[0])
    yield f"  {f'{name}.blocks':<28} {count} × {each:,} = {count * each:,}, each of them:"
    for inner, part in stack.blocks[0].named_children():
        if num_parameters(part):
            yield _line(f"  {inner}", part)
    if stack.norm is not None:
        yield _line(f"{name}.norm", stack.norm)


def _line(name: str, part: nn.Module) -> str:
    count = num_parameters(part)
    return f"  {name:<28} {_sum(part)} = {count:,}" if count else f"  {name:<28} nothing to learn = 0"


def _sum(part: nn.Module) -> str:
    """The sum that gives the parameters of a part."""
    if isinstance(part, nn.Embedding):
        return f"{part.num_embeddings:,} × {part.embedding_dim:,}"
    if isinstance(part, nn.LayerNorm | nn.RMSNorm):
        gains = f"{part.normalized_shape[0]:,} gains"
        has_bias = getattr(part, "bias", None) is not None
        return gains + (f" + {part.normalized_shape[0]:,} biases" if has_bias else "")
    matrices = _matrices(part)  # of an attention, an MLP or a linear layer
    weights = _repeated(f"{wide:,} × {high:,}" for wide, high, _ in matrices)
    biases = _repeated(f"{high:,}" for _, high, has_bias in matrices if has_bias)
    return f"{weights} weights" + (f" + {biases} biases" if biases else "")


def _repeated(terms: Iterator[str]) -> str:
    """a + a + b as 2 × a + b."""
    return " + ".join(f"{n} × {term}" if n > 1 else term for term, n in Counter(terms).items())


def _matrices(part: nn.Module) -> list[tuple[int, int, bool]]:
    """Width in, width out, and whether there are biases: of each projection, with q, k and v apart."""
    if isinstance(part, MultiHeadAttention):
        queries, keys = part.num_heads * part.head_dim, part.num_kv_heads * part.head_dim
        has_bias = part.output_proj.bias is not None
        into = [(part.d_model, out, has_bias) for out in (queries, keys, keys)]
        return [*into, (queries, part.d_model, has_bias)]
    linears = [m for m in part.modules() if isinstance(m, nn.Linear)]
    return [(linear.in_features, linear.out_features, linear.bias is not None) for linear in linears]


@dataclass(frozen=True)
class TableCost:
    """One kind of attention: what its tables of weights would take, and what the fused kernel keeps instead.

    All bytes are for one sample.
    """

    name: str
    queries: int
    keys: int
    heads: int
    layers: int
    head_bytes: int  # queries · keys numbers
    fused_layer_bytes: int  # queries, keys, values, the output, and a log-sum-exp (float32) for each row

    @property
    def layer_bytes(self) -> int:
        return self.heads * self.head_bytes

    @property
    def model_bytes(self) -> int:
        return self.layers * self.layer_bytes

    @property
    def fused_bytes(self) -> int:
        return self.layers * self.fused_layer_bytes

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.queries:,} × {self.keys:,} weights a head, heads: {self.heads}, "
            f"layers: {self.layers}\n"
            f"  as tables: {_bytes(self.head_bytes)} a head, {_bytes(self.layer_bytes)} a layer, "
            f"{_bytes(self.model_bytes)} in all\n"
            f"  fused, kept for the gradient: queries, keys, values, output and a log-sum-exp for each row: "
            f"{_bytes(self.fused_layer_bytes)} a layer, {_bytes(self.fused_bytes)} in all"
        )


@dataclass(frozen=True)
class Cost:
    """What one sample of these lengths costs. `tables` has one entry for each kind of attention."""

    lengths: tuple[int, ...]
    dtype: torch.dtype
    tables: tuple[TableCost, ...]
    flops: int  # of a forward pass

    @property
    def table_bytes(self) -> int:
        return sum(table.model_bytes for table in self.tables)

    @property
    def fused_bytes(self) -> int:
        return sum(table.fused_bytes for table in self.tables)

    def __str__(self) -> str:
        lengths = " and ".join(f"{length:,}" for length in self.lengths)
        return "\n".join(
            [
                f"one sample of length {lengths}, {str(self.dtype).removeprefix('torch.')}",
                *map(str, self.tables),
                f"forward pass: {self.flops:,} floating-point operations",
            ]
        )


def describe_cost(model: Model, *lengths: int) -> Cost:
    """What a sample of this length costs the model; of an EncoderDecoder, of these source and target lengths;
    of a VisionTransformer, a picture of this height and width in pixels.

    Lengths beyond learned positions are allowed: it is a sum, nothing runs. The operations are those of the
    matrix products, a multiplication and an addition for each pair of numbers: 2 · length · weights for each
    projection, and 4 · queries · keys · head_dim for each head of an attention. What a causal mask would
    save is not taken off, and norms, softmax and activations are not counted. PyTorch's own FlopCounterMode
    counts the same where attention is computed by products that it knows (`SDPBackend.MATH` on a CPU).

    Raises ValueError for another number of lengths, or one that is no whole number of at least 0, or pixels
    that the patches do not divide; TypeError for another model.
    """
    model = _known(model)
    wanted = 2 if isinstance(model, EncoderDecoder | VisionTransformer) else 1
    if len(lengths) != wanted or any(type(length) is not int or length < 0 for length in lengths):
        raise ValueError(f"{type(model).__name__} takes {wanted} whole lengths of at least 0, got {lengths}")
    if isinstance(model, VisionTransformer):
        return _of_pictures(model, len(model.tokens((lengths[0], lengths[1]))))
    length = lengths[-1]
    if isinstance(model, EncoderDecoder):
        source = lengths[0]
        stacks = [("encoder", model.encoder, source, 0), ("decoder", model.decoder, length, source)]
        width = model.config.target_vocabulary
    else:
        stacks, width = [("", model.stack, length, 0)], model.config.num_outputs
    tables = tuple(table for stack in stacks for table in _tables(*stack))
    flops = sum(_flops(block, queries, keys) for _, stack, queries, keys in stacks for block in stack)
    flops += 2 * length * model.config.d_model * width
    return Cost(lengths, next(model.parameters()).dtype, tables, flops)


def _of_pictures(model: VisionTransformer, length: int) -> Cost:
    config = model.config
    patches = length - (config.length - config.num_patches)
    flops = sum(_flops(block, length, 0) for block in model.stack)
    flops += 2 * patches * model.embedding.projection.weight.numel()
    flops += 2 * config.d_model * config.outputs  # of one place alone
    tables = tuple(_tables("", model.stack, length, 0))
    return Cost((length,), next(model.parameters()).dtype, tables, flops)


def _tables(side: str, stack: Stack, length: int, context: int) -> Iterator[TableCost]:
    for name, part in stack.blocks[0].named_children():
        if not isinstance(part, MultiHeadAttention):
            continue
        keys = context if name == "cross_attention" else length
        size = part.output_proj.weight.element_size()
        numbers = 2 * length * part.num_heads * part.head_dim  # queries and output
        numbers += 2 * keys * part.num_kv_heads * part.head_dim  # keys and values
        kind = "cross-attention" if name == "cross_attention" else "self-attention"
        yield TableCost(
            name=f"{side} {kind}".strip(),
            queries=length,
            keys=keys,
            heads=part.num_heads,
            layers=len(stack.blocks),
            head_bytes=length * keys * size,
            fused_layer_bytes=numbers * size + 4 * length * part.num_heads,
        )


def _flops(block: TransformerBlock, length: int, context: int) -> int:
    total = 0
    for name, part in block.named_children():
        if isinstance(part, MultiHeadAttention):
            keys = context if name == "cross_attention" else length
            total += _products(part, [length, keys, keys, length])
            total += 4 * length * keys * part.head_dim * part.num_heads
        elif isinstance(part, MLP):
            total += _products(part, [length] * len(_matrices(part)))
    return total


def _products(part: nn.Module, rows: Sequence[int]) -> int:
    pairs = zip(_matrices(part), rows, strict=True)
    return sum(2 * length * wide * high for (wide, high, _), length in pairs)


def _bytes(count: int) -> str:
    """In thousands, as disks are sold: 4,000,000 is 4 MB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:,.4g} {unit}" if count < 1000 * size else f"{count / size:,.0f} {unit}"
    return f"{count} bytes"
