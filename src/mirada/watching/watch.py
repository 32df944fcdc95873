"""`with mirada.watch(model) as gaze: model(x)`: see a model's attention without changing what it does."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from torch import Tensor, nn

from mirada.layers.attention import check_shapes
from mirada.layers.masks import Mask, check_mask
from mirada.watching.forms import four, lead_of
from mirada.watching.gaze import Gaze
from mirada.watching.ours import inputs_of
from mirada.watching.taps import listening, wrapped
from mirada.watching.watcher import Watcher, aside, places, some
from mirada.watching.watcher import record as keep


class NothingSeen(ValueError):
    """No attention was seen: the message says why, and what to do."""


@contextmanager
def watch(
    model: nn.Module,
    modules: str | Sequence[str] | None = None,
    *,
    heads: int | Sequence[int] | None = None,
    edits: Sequence = (),
    memory: int = 8 * 10**9,
) -> Iterator[Gaze]:
    """Watch a model run: every call of attention in it is kept, as queries and keys, and proved.

    The model runs as it would: the same kernels, the same outputs bit for bit. Seen are
    `F.scaled_dot_product_attention`, nn.MultiheadAttention and nn.Transformer's layers with their fast
    paths, `flex_attention`, the attention functions of Hugging Face's transformers, and `mirada.attention`.
    Attention written out by hand is seen where its scores can be followed from the product to the softmax;
    else it is noted in `gaze.unseen`, and `mirada.record` shows it.

    Calls from other threads than the one that watches are not seen. A compiled model runs uncompiled while
    it is watched. A few rows of every look are computed again from what was kept, and compared with what the
    model made of them: see `gaze.error`.

    Args:
        model: any PyTorch module.
        modules: which of its modules, by path, with * and ? (`"encoder.layer.*"`); a path means all that is
            in it. All of them unless given.
        heads: which heads, by number. All of them unless given.
        edits: changes made on the way, see `mirada.edits`.
        memory: how many bytes the gaze may keep.

    Raises:
        TypeError: model is not a PyTorch module.
        ValueError: a pattern that matches nothing, a head that does not exist, a gaze larger than `memory`.
        NothingSeen: on leaving, if no attention was seen, or none where a pattern or an edit chooses it.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is a {type(model).__name__}; expected a torch.nn.Module")
    patterns = [modules] if isinstance(modules, str) else modules
    numbers = [heads] if isinstance(heads, int) else heads
    watcher = Watcher(model, patterns, numbers, edits, memory)
    with ExitStack() as stack:
        stack.enter_context(wrapped.around(model))
        stack.enter_context(listening())
        stack.enter_context(watcher.at_work())
        yield watcher.gaze
    del model
    if not len(watcher.gaze):
        raise NothingSeen(why_nothing(watcher))
    for i, edit in enumerate(watcher.edits):
        if i not in watcher.edited:
            raise NothingSeen(f"{edit!r} changed nothing: {unedited(watcher)}")
    for pattern in patterns or ():
        if not watcher.reached(pattern):
            raise NothingSeen(
                f"modules={pattern!r}: none of these modules called attention; {who_did(watcher)}"
            )


def record(
    query: Tensor,
    key: Tensor,
    mask: Mask | None = None,
    *,
    value: Tensor | None = None,
    output: Tensor | None = None,
    temperature: float = 1.0,
    scale: float | None = None,
) -> None:
    """Show attention that is written out by hand to who watches; outside of `watch` it does nothing.

    Called from the module's forward, beside the lines that it speaks of.

    Args:
        query: (…, heads, rows, d), as they are multiplied: after rotary positions.
        key: (…, heads or a divisor of it, keys, d).
        mask: who may look at whom.
        value, output: (…, heads, keys, dv) and (…, heads, rows, dv). With both, the look is proved.
        temperature, scale: q·k is multiplied by `scale`, 1/√d unless given, and divided by `temperature`.

    Raises:
        ValueError: one of value and output without the other, or shapes that do not fit.
        TypeError: a mask that is not a `Mask`.
    """
    if (value is None) != (output is None):
        raise ValueError("value and output prove a look together: give both, or neither")
    if not (seen_by := places(tensors=(query, key))):
        return
    with aside():
        given = (query, key, key if value is None else value)
        shape = check_shapes(*given)
        if mask is not None:
            check_mask(mask).check(shape)
        if output is not None and output.shape != (wanted := (*query.shape[:-1], given[2].shape[-1])):
            raise ValueError(f"output has shape {tuple(output.shape)}; expected {tuple(wanted)}")
        lead = lead_of(*given)
        inputs = inputs_of(*given, mask, temperature, lead)
        factor = inputs.scale if scale is None else scale / temperature
        inputs = replace(inputs, scale=factor, kernel="recorded", cross=None)
        note = "recorded without value and output: there was nothing to compare with"
        keep(
            seen_by,
            inputs,
            None if output is None else four(output, lead),
            note="" if value is not None else note,
        )


def why_nothing(watcher: Watcher) -> str:
    """The sentence for a watch that ends with nothing."""
    if watcher.model() is None:
        return f"the {watcher.name} that was watched is gone: keep it, and call it inside the watch"
    if watcher.gaze.unseen:
        notes = some((f"{path or '(the model itself)'}: {why}" for path, why in watcher.gaze.unseen), 6)
        return (
            f"nothing was seen in {watcher.name}, and this is why: {notes}. "
            "Where it is written out by hand, mirada.record(query, key) shows it"
        )
    if watcher.modules is not None and watcher.elsewhere:
        return f"modules={list(watcher.modules)}: none of these called attention; {who_did(watcher)}"
    return (
        f"nothing was seen in {watcher.name}: inside the watch, none of its {len(watcher.paths)} modules "
        "called an attention function that is known. Was it called, in this thread? If its attention is "
        "written out by hand, call mirada.record(query, key) there"
    )


def unedited(watcher: Watcher) -> str:
    seen = f"attention was seen in {some(look.path or '(the model itself)' for look in watcher.gaze)}"
    if watcher.gaze.unseen:
        by_hand = some((path or "(the model itself)" for path, _ in watcher.gaze.unseen), 6)
        return f"{seen}; in {by_hand} it is written out by hand, where no edit reaches"
    return seen


def who_did(watcher: Watcher) -> str:
    return (
        f"those that did are {some(dict.fromkeys(watcher.elsewhere))}"
        if watcher.elsewhere
        else "no other did"
    )
