"""PyTorch's multi-head attention: `F.multi_head_attention_forward` and the two fast paths beside it.

Asked for weights, or on a fast path, PyTorch does not come to the fused kernel. What it was given is then
taken the other way, through the kernel, and what comes out there is compared with what PyTorch made.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

import torch
import torch.nn.functional as F
from torch import Tensor

from mirada.watching import sdpa
from mirada.watching.call import SAME, Apart
from mirada.watching.edits import edited
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import Place, aside, inner, masks_of, places, quiet, record, thread, watching

ORIGINAL = F.multi_head_attention_forward
_ARGUMENTS = inspect.signature(ORIGINAL)


def listened() -> Callable:
    """`F.multi_head_attention_forward`, which asks `thread.inner` where it calls the fused kernel.

    It is the same code beside another name, so that nothing is changed for anybody else.
    """
    names = {**vars(F), "scaled_dot_product_attention": asked}
    return FunctionType(
        ORIGINAL.__code__, names, ORIGINAL.__name__, ORIGINAL.__defaults__, ORIGINAL.__closure__
    )


def asked(*args, **kwargs) -> Tensor:
    kernel = F.scaled_dot_product_attention
    return kernel(*args, **kwargs) if thread.inner is None else thread.inner(kernel, *args, **kwargs)


@dataclass
class Kernel:
    """Stands where the fused kernel is called, lets it work, and remembers what it was given and gave."""

    seen_by: list[Place]
    cross: bool
    inputs: Inputs | None = None
    looked: Tensor | None = None  # (batch, heads, rows, dv): what proves the look
    changed: bool = False

    def __call__(self, kernel, *args, **kwargs) -> Tensor:
        arguments = sdpa.given(*args, **kwargs)
        masks = masks_of(self.seen_by)
        inputs = sdpa.inputs_of(masks, **arguments, kernel="multi-head attention", cross=self.cross)
        if (new := edited(self.seen_by, lambda: inputs, arguments["dropout_p"])) is not None:
            self.inputs, self.looked, self.changed = new.inputs, new.looked, True
            return new.output
        output = kernel(*args, **kwargs)
        self.inputs, self.looked = inputs, output
        return output


def tap(forward, *args, **kwargs) -> tuple[Tensor, Tensor | None]:
    """`F.multi_head_attention_forward`, seen."""
    if not watching.get():
        return forward(*args, **kwargs)
    bound = _ARGUMENTS.bind(*args, **kwargs)
    bound.apply_defaults()
    if not (seen_by := places(tensors=(bound.arguments["query"], bound.arguments["key"]))):
        return (forward if thread.inner is None else listened())(*args, **kwargs)
    if forward is not ORIGINAL:
        for watcher, path, _ in seen_by:
            watcher.gaze.note(path, f"F.multi_head_attention_forward was replaced by {forward!r}")
        return forward(*args, **kwargs)
    given = bound.arguments
    forward = listened()
    kernel = Kernel(seen_by, is_cross(given["query"], given["key"]))
    if any(watcher.edits for watcher, *_ in seen_by):
        with quiet(), inner(kernel):
            output, _ = forward(**other(given, dropout=True))
        with aside():
            assert kernel.inputs is not None
            record(seen_by, kernel.inputs, kernel.looked)
        if kernel.changed:
            return output, table(kernel.inputs, given, output) if given["need_weights"] else None
        return forward(*args, **kwargs)
    dropping = given["training"] and given["dropout_p"] > 0
    if given["need_weights"] or dropping:
        with quiet():
            result = forward(*args, **kwargs)
        with aside(), inner(kernel):
            output, _ = forward(**other(given))
            apart = SAME if dropping else distance(output, result[0])
    else:
        with quiet(), inner(kernel):
            result = forward(*args, **kwargs)
        apart = SAME
    with aside():
        assert kernel.inputs is not None
        record(seen_by, kernel.inputs, kernel.looked, apart=apart)
    return result


def tap_fast(native, query, key, value, embed_dim, num_heads, w, b, out_w, out_b, mask=None,
             need_weights=True, average_attn_weights=True, mask_type=None):  # fmt: skip
    """`torch._native_multi_head_attention`, the fast path of nn.MultiheadAttention, seen."""
    given = (
        query,
        key,
        value,
        embed_dim,
        num_heads,
        w,
        b,
        out_w,
        out_b,
        mask,
        need_weights,
        average_attn_weights,
    )
    if not (seen_by := places(tensors=() if query.is_nested else (query,))):
        return native(*given, mask_type)
    kernel = Kernel(seen_by, cross=False)  # it is only taken for self-attention
    with quiet():
        result = native(*given, mask_type)
    with aside(), inner(kernel):
        x, lengths = padded(query)
        arguments = arguments_of(x, num_heads, w, b, out_w, out_b, mask, mask_type, lengths)
        output = listened()(**arguments)[0].transpose(0, 1)
        apart = SAME if kernel.changed else distance(output, padded(result[0])[0], lengths)
    with aside():
        assert kernel.inputs is not None
        record(seen_by, kernel.inputs, kernel.looked, apart=apart)
    if not kernel.changed:
        return result
    arguments["average_attn_weights"] = average_attn_weights
    return like(output, query, lengths), table(kernel.inputs, arguments, output) if need_weights else None


def tap_layer(native, src, embed_dim, num_heads, w, b, out_w, out_b, use_gelu, norm_first, eps,
              norm1_w, norm1_b, norm2_w, norm2_b, linear1_w, linear1_b, linear2_w, linear2_b,
              mask=None, mask_type=None):  # fmt: skip
    """`torch._transformer_encoder_layer_fwd`, the fast path of nn.TransformerEncoderLayer, seen."""
    given = (src, embed_dim, num_heads, w, b, out_w, out_b, use_gelu, norm_first, eps, norm1_w, norm1_b,
             norm2_w, norm2_b, linear1_w, linear1_b, linear2_w, linear2_b, mask, mask_type)  # fmt: skip
    if not (seen_by := places(tensors=() if src.is_nested else (src,))):
        return native(*given)

    def rest(x: Tensor, mixed: Tensor) -> Tensor:
        """What the layer does with what attention gives."""
        bend = F.gelu if use_gelu else F.relu
        x = x + mixed
        if not norm_first:
            x = F.layer_norm(x, (embed_dim,), norm1_w, norm1_b, eps)
        y = F.layer_norm(x, (embed_dim,), norm2_w, norm2_b, eps) if norm_first else x
        x = x + F.linear(bend(F.linear(y, linear1_w, linear1_b)), linear2_w, linear2_b)
        return x if norm_first else F.layer_norm(x, (embed_dim,), norm2_w, norm2_b, eps)

    kernel = Kernel(seen_by, cross=False)
    with quiet():
        result = native(*given)
    with aside(), inner(kernel):
        x, lengths = padded(src)
        y = F.layer_norm(x, (embed_dim,), norm1_w, norm1_b, eps) if norm_first else x
        arguments = arguments_of(y, num_heads, w, b, out_w, out_b, mask, mask_type, lengths)
        mixed = listened()(**arguments)[0]
        mixed = mixed.transpose(0, 1)
        if kernel.changed:
            result, apart = like(rest(x, mixed), src, lengths), SAME
        else:
            shortest = x.shape[1] if lengths is None else min(lengths)
            rows = sorted({0, shortest // 2, shortest - 1}) if shortest else []
            apart = distance(rest(x[:, rows], mixed[:, rows]), padded(result)[0][:, rows])
    with aside():
        assert kernel.inputs is not None
        record(seen_by, kernel.inputs, kernel.looked, apart=apart)
    return result


def other(given: dict, dropout: bool = False) -> dict:
    """The same call, through the fused kernel and, unless it is asked for, without dropout."""
    changes: dict = {"need_weights": False}
    if not dropout:
        changes |= {"dropout_p": 0.0, "training": False}
    if given["attn_mask"] is not None:  # then it says all; the flag is only a hint that it is causal
        changes |= {"is_causal": False}
    return {**given, **changes}


def arguments_of(x: Tensor, num_heads: int, w, b, out_w, out_b, mask, mask_type, lengths) -> dict:
    """A fast path's arguments as those of `F.multi_head_attention_forward`, which has the batch second."""
    x = x.transpose(0, 1)
    padding = mask if mask is not None and mask_type == 1 else None
    if lengths is not None:
        padding = torch.arange(x.shape[0], device=x.device) >= torch.tensor(lengths, device=x.device)[:, None]
    if mask is not None and mask_type == 1:
        mask = None
    elif mask is not None and mask.dim() == 4:
        mask = mask.reshape(-1, *mask.shape[-2:])
    bound = _ARGUMENTS.bind(
        x, x, x, x.shape[-1], num_heads, w, b, None, None, False, 0.0, out_w, out_b, training=False,
        key_padding_mask=padding, need_weights=False, attn_mask=mask,
    )  # fmt: skip
    return bound.arguments


def padded(x: Tensor) -> tuple[Tensor, list[int] | None]:
    """A nested tensor with zeros at the ends, and its lengths; another tensor as it is."""
    if not x.is_nested:
        return x, None
    return x.to_padded_tensor(0.0), [len(sample) for sample in x.unbind()]


def like(x: Tensor, source: Tensor, lengths: list[int] | None) -> Tensor:
    if lengths is None:
        return x
    return torch.nested.nested_tensor([sample[:n] for sample, n in zip(x, lengths, strict=True)])


def table(inputs: Inputs, given: dict, output: Tensor) -> Tensor:
    """The weights that PyTorch hands out, of what the edits left."""
    _, heads, rows, _ = inputs.shape
    weights = inputs.bare().weights(range(heads), range(rows)).to(output.dtype)
    if given.get("average_attn_weights", True):
        weights = weights.mean(1)
    return weights if output.dim() == 3 else weights[0]


def distance(x: Tensor, y: Tensor, lengths: list[int] | None = None) -> Apart:
    """Largest difference, where both are numbers: a row that may look at nobody is what each makes of it.

    Beside it the largest number of those compared.
    """
    if lengths is not None:
        x, y = (torch.cat([a[:n] for a, n in zip(z, lengths, strict=True)]) for z in (x, y))
    difference, size = (x - y).abs(), y.abs()
    if not difference.numel():
        return SAME
    numbers = difference.isfinite()
    largest = [float(torch.where(numbers, z, 0).amax()) for z in (difference, size)]
    return largest[0], largest[1]


def is_cross(query: Tensor, key: Tensor) -> bool:
    return query is not key and not (query.shape == key.shape and torch.equal(query, key))
