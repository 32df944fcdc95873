"""Writing on: each step says what the whole forward pass says, for batches of any lengths."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small import BATCH, EXACT, KINDS, SOURCE, SOURCE_VOCABULARY, VOCABULARY, model_of, tokens

from mirada import BlockConfig
from mirada.models.generation import draw, generate, probabilities, stream

ROOM = {"max_length": 19}
SIDES = {"source_length": SOURCE, "target_length": 19}
START = [4, 7]
RAGGED = [[3, 1, 4, 1, 5], [9], [2, 6, 5]]


def writer(family="decoder", kind="learned", **options):
    """A model whose logits are far enough apart that greedy tokens vary."""
    sizes = SIDES if family == "encoder_decoder" else ROOM
    model = model_of(family, **{**sizes, **KINDS[kind], **options})
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def heard(model):
    """The logits of every step from now on."""
    steps = []
    name = "decode" if hasattr(model, "decode") else "forward"
    inner = getattr(model, name)

    def listening(*args, **options):
        logits = inner(*args, **options)
        steps.append(logits[:, -1].clone())
        return logits

    setattr(model, name, listening)
    return steps


def by_hand(model, prompt, count, source=None):
    """Greedily, reading everything again for each token: the logits and tokens of each step."""
    read, steps = prompt, []
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            steps.append((model(read) if source is None else model(source, read))[:, -1])
            read = torch.cat([read, steps[-1].argmax(-1, keepdim=True)], dim=1)
    return steps, read[:, prompt.shape[1] :]


# TinyLLM#17, x-transformers#187, #219, torchtune#959, litgpt#298
@pytest.mark.parametrize("kind", KINDS)
def test_each_step_equals_reading_everything_again(kind):
    model, prompt = writer(kind=kind), tokens(3)
    expected, written = by_hand(model, prompt, 13)
    steps = heard(model)
    assert torch.equal(generate(model, prompt, 13, temperature=0), written)
    for step, whole in zip(steps, expected, strict=True):
        torch.testing.assert_close(step, whole, **EXACT)
    assert written.unique().numel() > 1  # not the same token for ever


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_decoder_too(kind):
    model, source = writer("encoder_decoder", kind), tokens(SOURCE, SOURCE_VOCABULARY)
    expected, written = by_hand(model, torch.tensor([START] * BATCH), 13, source)
    steps = heard(model)
    assert torch.equal(generate(model, source, 13, start=START, temperature=0), written)
    for step, whole in zip(steps, expected, strict=True):
        torch.testing.assert_close(step, whole, **EXACT)


# transformers#3021, keras-hub#571, nnsight#673
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_prompts_of_different_lengths_equal_each_alone(family, kind):
    model = writer(family, kind)
    options = {"temperature": 0, **({"start": 5} if family == "encoder_decoder" else {})}
    steps = heard(model)
    together = generate(model, RAGGED, 13, **options)
    logits = torch.stack(steps, dim=1)
    for b, prompt in enumerate(RAGGED):
        steps.clear()
        alone = generate(model, torch.tensor([prompt]), 13, **options)
        assert torch.equal(together[b : b + 1], alone)
        torch.testing.assert_close(logits[b], torch.cat(steps), **EXACT)


def test_the_same_prompts_as_tensors_as_lists_and_as_one_tensor():
    model, prompt = writer(), tokens(3)
    one = generate(model, prompt, 7, temperature=0)
    assert torch.equal(generate(model, prompt.tolist(), 7, temperature=0), one)
    assert torch.equal(generate(model, list(prompt), 7, temperature=0), one)
    assert torch.equal(generate(model, prompt.int(), 7, temperature=0), one)
    assert one.shape == (BATCH, 7)
    assert one.dtype == torch.int64


def test_without_padding_no_mask_is_made(monkeypatch):
    # Not even the causal one after the first step: the last token looks at all.
    model, masks = writer(), []
    inner = model.stack.forward
    monkeypatch.setattr(
        model.stack, "forward", lambda x, **options: masks.append(options["mask"]) or inner(x, **options)
    )
    generate(model, tokens(3), 5)
    assert repr(masks) == "[Mask.causal(), None, None, None, None]"


@pytest.mark.parametrize("temperature", [0, 0.0, 1e-45, 1e-300])
def test_the_smallest_temperatures_take_the_most_likely_token(temperature):
    # nanoGPT#738
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        logits = torch.randperm(5 * 7).reshape(5, 7).to(dtype)
        assert torch.equal(draw(logits, temperature=temperature), logits.argmax(-1))


def test_temperature_divides_the_logits():
    logits = torch.randn(5, 7, dtype=torch.float64)
    for temperature in (0.3, 1.0, 2.5):
        expected = (logits / temperature).exp()
        torch.testing.assert_close(
            probabilities(logits, temperature=temperature), expected / expected.sum(-1, keepdim=True), **EXACT
        )


@given(
    values=st.lists(st.integers(-6, 6), min_size=1, max_size=11),  # with many that are equal
    top_k=st.none() | st.integers(1, 13),
    top_p=st.none() | st.sampled_from([1e-9, 0.1, 0.5, 0.9, 1.0]),
    temperature=st.sampled_from([0.5, 1.0, 3.0]),
)
def test_filters_equal_the_same_in_loops(values, top_k, top_p, temperature):
    # minGPT#10: what is filtered has probability exactly 0
    exact = [math.exp(value / temperature) for value in values]
    order = sorted(range(len(values)), key=lambda i: -exact[i])[: top_k or len(values)]
    whole, reached, kept = sum(exact[i] for i in order), 0.0, 0
    for i in order:
        if top_p is None or top_p == 1 or reached < top_p - 1e-12:
            kept += 1
        reached += exact[i] / whole
    likely = sorted((exact[i] for i in order[:kept]), reverse=True)
    got = probabilities(
        torch.tensor([values], dtype=torch.float64), temperature=temperature, top_k=top_k, top_p=top_p
    )[0]
    assert int((got > 0).sum()) == kept
    expected = torch.tensor([p / sum(likely) for p in likely], dtype=torch.float64)
    torch.testing.assert_close(got.sort(descending=True).values[:kept], expected, **EXACT)
    assert all(
        got[i] <= got[j] for i in range(len(values)) for j in range(len(values)) if exact[i] < exact[j]
    )


def test_what_is_filtered_is_never_drawn():
    model = writer()
    steps = heard(model)
    options = {"top_k": 3, "temperature": 5.0, "seed": 1}
    written = generate(model, tokens(3, batch=97), 16, **options)
    ranks = [
        (logits > logits.gather(1, new[:, None])).sum(1) for logits, new in zip(steps, written.T, strict=True)
    ]
    assert set(torch.cat(ranks).tolist()) == {0, 1, 2}


def test_a_seed_draws_the_same_again_and_leaves_pytorchs_own_state_alone():
    model, prompt = writer(), tokens(3)
    before = torch.random.get_rng_state()
    first = generate(model, prompt, 16, seed=5)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(generate(model, prompt, 16, seed=5), first)
    assert not torch.equal(generate(model, prompt, 16, seed=6), first)
    torch.manual_seed(2)
    drawn = generate(model, prompt, 16)
    assert not torch.equal(generate(model, prompt, 16), drawn)
    torch.manual_seed(2)
    assert torch.equal(generate(model, prompt, 16), drawn)


def test_draws_follow_the_probabilities():
    logits = torch.tensor([0.0, 1.0, 2.0, -1.0]).expand(40_000, 4)
    drawn = draw(logits, top_k=3, generator=torch.Generator().manual_seed(0))
    shares = drawn.bincount(minlength=4) / len(drawn)
    torch.testing.assert_close(shares, probabilities(logits[:1], top_k=3)[0], atol=0.01, rtol=0)
    assert shares[3] == 0


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_a_finished_sample_repeats_its_stop_token_and_the_others_go_on(family):
    model = writer(family)
    options = {"temperature": 3.0, "seed": 3, **({"start": 5} if family == "encoder_decoder" else {})}
    free = generate(model, RAGGED, 13, **options)
    stop = {int(free[0, 2]), int(free[2, 4])}
    assert not set(free[0, 3:].tolist()) <= stop  # drawn tokens go on otherwise than the filling
    ends = [next((i for i, t in enumerate(row) if t in stop), 12) for row in free.tolist()]
    stopped = generate(model, RAGGED, 13, **options, stop=stop)
    assert stopped.shape == (BATCH, max(ends) + 1)  # nobody waits for what is all filling
    for b, end in enumerate(ends):
        expected = [*free[b, : end + 1].tolist(), *[int(free[b, end])] * (max(ends) - end)]
        assert stopped[b].tolist() == expected


def test_stream_brings_the_columns_one_by_one():
    model = writer()
    steps, columns = heard(model), []
    for column in stream(model, RAGGED, 7, seed=3):
        columns.append(column)
        assert len(steps) == len(columns)  # nothing is computed ahead
        assert column.shape == (BATCH,)
    assert torch.equal(torch.stack(columns, 1), generate(model, RAGGED, 7, seed=3))


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_nothing_is_dropped_out_and_every_mode_stays_as_it_was(family):
    options = {"temperature": 0, **({"start": 5} if family == "encoder_decoder" else {})}
    model = writer(family, block=BlockConfig(dropout=0.5)).eval()
    expected = generate(model, RAGGED, 7, **options)
    model.train()
    half = next(m for name, m in model.named_modules() if name.endswith("blocks.1")).eval()
    modes = {name: module.training for name, module in model.named_modules()}
    tokens_of = stream(model, RAGGED, 7, **options)
    assert torch.equal(next(tokens_of), expected[:, 0])
    assert {name: module.training for name, module in model.named_modules()} == modes
    assert torch.equal(torch.stack(list(tokens_of), 1), expected[:, 1:])
    assert {name: module.training for name, module in model.named_modules()} == modes
    assert model.training
    assert not half.training


def test_the_mode_comes_back_after_an_error():
    model = writer().train()
    with pytest.raises(ValueError, match="tokens run from 11 to 11"):
        generate(model, [[VOCABULARY]], 3)
    assert all(module.training for module in model.modules())


def test_no_gradients_are_kept_and_tokens_can_be_trained_on():
    model = writer()
    written = generate(model, tokens(3), 5)
    assert not written.is_inference()
    model(written).sum().backward()


def test_learned_positions_have_an_end_and_it_is_said_before_anything_is_written():
    model, prompt = writer(), tokens(5)
    steps = heard(model)
    assert generate(model, prompt, 15).shape == (BATCH, 15)  # the last is written at place 18, and not read
    steps.clear()
    with pytest.raises(ValueError, match=r"5 tokens and 16 new ones need 20 places.*end at 19: ask for 15 "):
        stream(model, prompt, 16)
    with pytest.raises(ValueError, match=r"2 tokens and 19 new ones need 20 places.*end at 19: ask for 18 "):
        stream(writer("encoder_decoder"), tokens(SOURCE, 13), 19, start=START)
    with pytest.raises(ValueError, match="x has length 8, but this table holds 7 positions"):
        stream(writer("encoder_decoder"), tokens(SOURCE + 1, 13), 5, start=START)
    assert steps == []
    assert generate(writer(kind="rotary, grouped, gated"), prompt, 16).shape == (BATCH, 16)


def test_empty_batches_and_no_tokens():
    model = writer()
    assert generate(model, tokens(3), 0).shape == (BATCH, 0)
    assert generate(model, tokens(3)[:0], 5).shape == (0, 5)
    assert generate(model, tokens(3)[:0], 5, stop=[1], temperature=0).shape == (0, 5)


@pytest.mark.parametrize(
    ("prompt", "options", "error", "says"),
    [
        (tokens(3)[0], {}, ValueError, r"prompt must be \(batch, length\), but is \(3,\)"),
        ([1, 2], {}, ValueError, r"a list of sequences of tokens, such as"),
        ([], {}, ValueError, r"a list of sequences of tokens, such as"),
        ([[1], [0.5]], {}, TypeError, r"prompt has dtype torch\.float32"),
        (torch.rand(2, 3), {}, TypeError, r"prompt has dtype torch\.float32.*prompt\.long\(\)"),
        ([[1], []], {}, ValueError, "a prompt is empty"),
        (torch.empty(2, 0), {}, TypeError, "float32"),
        (torch.empty(2, 0).long(), {}, ValueError, "a prompt is empty"),
        (
            [[1]],
            {"max_new_tokens": -1},
            ValueError,
            "max_new_tokens must be a whole number of at least 0, but is -1",
        ),
        ([[1]], {"temperature": -1.0}, ValueError, "temperature must be 0 or a positive, finite number"),
        ([[1]], {"temperature": math.nan}, ValueError, "but is nan"),
        ([[1]], {"top_k": 0}, ValueError, "top_k must be a whole number of at least 1, but is 0"),
        ([[1]], {"top_p": 0.0}, ValueError, r"top_p must be above 0 and at most 1, but is 0\.0"),
        ([[1]], {"top_p": 1.1}, ValueError, r"but is 1\.1"),
        ([[1]], {"stop": [11]}, ValueError, "stop holds 11, but the vocabulary is 0 to 10"),
        ([[1]], {"start": 1}, ValueError, "start is for an EncoderDecoder"),
    ],
)
def test_what_is_wrong_is_said_at_once(prompt, options, error, says):
    with pytest.raises(error, match=says):
        stream(writer(), prompt, **{"max_new_tokens": 2, **options})


def test_models_that_cannot_write():
    with pytest.raises(TypeError, match="expected a Decoder or an EncoderDecoder, got Encoder"):
        generate(model_of("encoder"), [[1]], 2)
    with pytest.raises(ValueError, match="17 outputs, but reads a vocabulary of 11"):
        generate(model_of("decoder", outputs=17), [[1]], 2)
    with pytest.raises(ValueError, match="give start, as in training"):
        generate(model_of("encoder_decoder"), [[1]], 2)
    with pytest.raises(ValueError, match="a prompt is empty"):
        generate(model_of("encoder_decoder"), [[1]], 2, start=[])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_every_dtype_writes(dtype):
    written = generate(model_of("decoder", dtype=dtype, **ROOM), RAGGED, 7, seed=0, top_k=5, top_p=0.9)
    assert written.shape == (BATCH, 7)
