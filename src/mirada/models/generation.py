"""Writing on: token by token, each drawn from what the model says of the next one.

The keys and values of what was read are kept (a KVCache for each block, set aside once), so each step reads
one token and says the same as reading everything again.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn

from mirada.layers.cache import KVCache
from mirada.layers.masks import Mask
from mirada.layers.multihead import MultiHeadAttention
from mirada.models.decoder import Decoder
from mirada.models.encoder_decoder import EncoderDecoder
from mirada.models.parts import uncompiled

Prompt = Tensor | Sequence[Tensor | Sequence[int]]
# tokens, mask, caches, positions -> logits (batch, length, vocabulary)
_Step = Callable[[Tensor, Mask | None, list[KVCache], Tensor | None], Tensor]


def generate(
    model: Decoder | EncoderDecoder,
    prompt: Prompt,
    max_new_tokens: int,
    *,
    start: int | Sequence[int] | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: Collection[int] = (),
) -> Tensor:
    """The new tokens, without the prompt: (batch, max_new_tokens), fewer where all samples stopped before.

    The mode of the model and of its parts stays as it is; while it writes, nothing is dropped out.

    Args:
        prompt: (batch, length), or a list of sequences of any lengths: each gives what it gives alone
            (greedily; drawn tokens share one stream of random numbers). For an EncoderDecoder, the source.
        max_new_tokens: how many at most.
        start: of an EncoderDecoder: the first token, or the first few, of every target; not returned either.
        temperature: divides the logits: low is sure, high is daring; 0 takes the most likely token.
        top_k: draw among the k most likely only (exactly k: https://github.com/karpathy/minGPT/issues/10).
        top_p: then among the fewest whose probabilities reach p (https://arxiv.org/abs/1904.09751).
        seed: the same seed draws the same tokens. Without one, PyTorch's own random state is used.
        stop: tokens that end a sample. It is there in what is returned, and repeated to the end of the row.

    Raises:
        ValueError: options out of range, an empty prompt, more tokens than learned positions go.
        TypeError: an Encoder, tokens that are not whole numbers.

    A compiled model runs uncompiled here: each step has another length.
    """
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed, "stop": stop}
    tokens = list(stream(model, prompt, max_new_tokens, start=start, **options))
    if not tokens:
        return torch.empty(len(prompt), 0, dtype=torch.int64, device=_device_of(model))
    return torch.stack(tokens, dim=1)


def stream(
    model: Decoder | EncoderDecoder,
    prompt: Prompt,
    max_new_tokens: int,
    *,
    start: int | Sequence[int] | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: Collection[int] = (),
) -> Iterator[Tensor]:
    """The columns of `generate`, each (batch,), as soon as they are there. Between two of them the model is
    in its own mode. What is wrong with the options is said at once, not at the first token.
    """
    _check_options(max_new_tokens, temperature, top_k, top_p, seed)
    if isinstance(prompt, str) or isinstance(stop, int):
        raise TypeError("prompt and stop are tokens: numbers, as the model reads them, in a list or a tensor")
    model = uncompiled(model)  # pyright: ignore[reportAssignmentType]
    if isinstance(model, EncoderDecoder):
        stack, limit, vocabulary = model.decoder, model.config.target_length, model.config.target_vocabulary
        step, first, lengths = _of_encoder_decoder(model, prompt, start)
    elif isinstance(model, Decoder):
        stack, limit, vocabulary = model.stack, model.config.max_length, model.config.vocabulary
        step, first, lengths = _of_decoder(model, prompt, start)
    else:
        raise TypeError(f"expected a Decoder or an EncoderDecoder, got {type(model).__name__}")
    for token in stop:
        if not 0 <= token < vocabulary:
            raise ValueError(f"stop holds {token}, but the vocabulary is 0 to {vocabulary - 1}")
    length = first.shape[1]
    room = length + max_new_tokens - 1  # the last new token is not read again
    if length == 0:
        raise ValueError("a prompt is empty: there is nothing to continue; give at least one token")
    if model.config.positions == "learned" and room > limit:
        raise ValueError(
            f"{length} tokens and {max_new_tokens} new ones need {room} places, but learned positions end at "
            f"{limit}: ask for {max(limit - length + 1, 0)} tokens at most, or give a shorter prompt"
        )
    generator = None if seed is None else torch.Generator(first.device).manual_seed(seed)
    choose = partial(draw, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
    heads = [block.attention for block in stack]
    caches = _caches(heads, first.shape[0], max(room, 1), first.device)
    return _write(list(model.modules()), step, caches, first, lengths, max_new_tokens, choose, list(stop))


def draw(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """One token for each row of logits (batch, vocabulary): (batch,)."""
    if temperature == 0:  # nanoGPT#738
        return logits.argmax(-1)
    chances = probabilities(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    return torch.multinomial(chances, 1, generator=generator)[:, 0]


def probabilities(
    logits: Tensor, *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """What `draw` draws from: (batch, vocabulary), each row 1 in all, exactly 0 where a token is left out."""
    logits = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    # From the largest down, so that the smallest temperature divides 0 and not infinity by infinity.
    largest = logits.amax(-1, keepdim=True)
    logits = (logits - largest) / max(temperature, torch.finfo(logits.dtype).tiny)
    if top_k is not None and top_k < logits.shape[-1]:
        kept = logits.topk(top_k, dim=-1)  # exactly k, also where several are equally likely
        logits = torch.full_like(logits, -math.inf).scatter(-1, kept.indices, kept.values)
    if top_p is not None and top_p < 1:
        sorted_logits, order = logits.sort(dim=-1, descending=True, stable=True)
        chances = sorted_logits.softmax(-1)
        enough = chances.cumsum(-1) - chances >= top_p  # those before it reach p already
        logits = logits.masked_fill(torch.zeros_like(enough).scatter(-1, order, enough), -math.inf)
    return logits.softmax(-1)


def _write(
    modules: list[nn.Module],
    step: _Step,
    caches: list[KVCache],
    tokens: Tensor,  # (batch, length), the places not yet read
    lengths: Tensor | None,  # (batch,), how many of them are real, the last ones; None: all
    max_new_tokens: int,
    choose: Callable[[Tensor], Tensor],
    stop: list[int],
) -> Iterator[Tensor]:
    mask = positions = None
    ends = torch.tensor(stop, device=tokens.device)
    new = finished = None
    if lengths is not None:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        positions = (places - (tokens.shape[1] - lengths)[:, None]).clamp(min=0)
    for _ in range(max_new_tokens):
        if lengths is not None:
            mask = Mask.padding(lengths, side="left")  # transformers#3021, keras-hub#571, nnsight#673
        with torch.no_grad(), _evaluating(modules):
            drawn = choose(step(tokens, mask, caches, positions)[:, -1])
        new = drawn if new is None or finished is None else torch.where(finished, new, drawn)
        yield new
        if stop:
            finished = torch.isin(new, ends)
            if finished.all() and finished.numel():
                return
        tokens = new[:, None]
        if lengths is not None:
            positions, lengths = lengths[:, None], lengths + 1


def _of_decoder(model: Decoder, prompt: Prompt, start) -> tuple[_Step, Tensor, Tensor | None]:
    if start is not None:
        raise ValueError("start is for an EncoderDecoder: a Decoder continues its prompt")
    if model.config.num_outputs > model.config.vocabulary:
        raise ValueError(
            f"the model has {model.config.num_outputs} outputs, but reads a vocabulary of "
            f"{model.config.vocabulary}: it could not read what it writes"
        )
    tokens, lengths = _tokens(prompt, _device_of(model), side="left")
    if lengths is not None and not lengths.all():
        tokens = tokens[:, :0]  # one of them is empty

    def step(tokens: Tensor, mask: Mask | None, caches: list[KVCache], positions: Tensor | None) -> Tensor:
        return model(tokens, mask, caches=caches, positions=positions)

    return step, tokens, lengths


def _of_encoder_decoder(
    model: EncoderDecoder, source: Prompt, start: int | Sequence[int] | None
) -> tuple[_Step, Tensor, Tensor | None]:
    if start is None:
        raise ValueError("an EncoderDecoder begins with a token: give start, as in training")
    tokens, lengths = _tokens(source, _device_of(model), side="right")
    source_mask = None if lengths is None else Mask.padding(lengths)
    with torch.no_grad(), _evaluating(list(model.modules())):
        context = model.encode(tokens, source_mask)
    across = [block.cross_attention for block in model.decoder]
    kept = _caches(across, len(tokens), max(tokens.shape[1], 1), tokens.device)
    first = torch.as_tensor(start, device=tokens.device)
    if first.dim() > 1:
        raise ValueError(
            f"start has shape {tuple(first.shape)}; expected one token or a row of them: the same for all"
        )
    first = _whole(first.reshape(-1)) if first.numel() else first.long()

    def step(tokens: Tensor, mask: Mask | None, caches: list[KVCache], positions: Tensor | None) -> Tensor:
        return model.decode(
            tokens, context, source_mask, mask, caches=caches, context_caches=kept, positions=positions
        )

    return step, first.expand(len(tokens), -1), None


def _tokens(prompt: Prompt, device: torch.device, *, side: str) -> tuple[Tensor, Tensor | None]:
    """(batch, length), and how many of each are real, (batch,), where they differ; 0 fills the rest."""
    if isinstance(prompt, Tensor):
        if prompt.dim() != 2:
            raise ValueError(f"prompt must be (batch, length), but is {tuple(prompt.shape)}")
        return _whole(prompt).to(device), None
    samples = [torch.as_tensor(sample, device=device) for sample in prompt]
    if not samples or any(sample.dim() != 1 for sample in samples):
        raise ValueError("prompt must be a list of sequences of tokens, such as [[5, 2, 7], [3]]")
    samples = [_whole(sample) if sample.numel() else sample.long() for sample in samples]  # [] reads as float
    lengths = torch.tensor([len(sample) for sample in samples], device=device)
    tokens = nn.utils.rnn.pad_sequence(samples, batch_first=True, padding_side=side)
    return tokens, None if (lengths == tokens.shape[1]).all() else lengths


def _whole(tokens: Tensor) -> Tensor:
    if tokens.is_floating_point() or tokens.is_complex() or tokens.dtype == torch.bool:
        raise TypeError(f"prompt has dtype {tokens.dtype}; expected whole numbers: write prompt.long()")
    return tokens.long()


def _caches(
    layers: Sequence[MultiHeadAttention], batch: int, room: int, device: torch.device
) -> list[KVCache]:
    half = torch.get_autocast_dtype(device.type) if torch.is_autocast_enabled(device.type) else None
    found = []
    for layer in layers:
        dtype = half or layer.output_proj.weight.dtype
        found.append(KVCache(batch, layer.num_kv_heads, room, layer.head_dim, device=device, dtype=dtype))
    return found


def _check_options(
    max_new_tokens: int, temperature: float, top_k: int | None, top_p: float | None, seed: int | None
) -> None:
    for name, value, least in (("max_new_tokens", max_new_tokens, 0), ("top_k", top_k, 1), ("seed", seed, 0)):
        whole = value is None or (isinstance(value, int) and least <= value < 2**63)
        if not whole:
            raise ValueError(f"{name} must be a whole number of at least {least}, but is {value!r}")
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be 0 or a positive, finite number, but is {temperature}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, but is {top_p}")


def _device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


@contextmanager
def _evaluating(modules: list[nn.Module]) -> Iterator[None]:
    """All of them in evaluation mode, and afterwards those in training that were."""
    training = [module for module in modules if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True
