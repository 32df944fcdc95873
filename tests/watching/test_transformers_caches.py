"""Decoding with the caches of Hugging Face's transformers: the steps are joined, and say what they are."""

import copy

import pytest
import torch
from families import FAMILIES, ids, tables_of
from torch import Tensor

from mirada import watch
from mirada.watching.look import ABSENT

CLOSE = 1e-5
PROMPT, NEW = 6, 5  # "Hey, are you conscious?" in tokens, and what is written after it
CAUSAL = {"llama": "LlamaForCausalLM", "gpt2": "GPT2LMHeadModel", "mistral": "MistralForCausalLM"}
CAUSAL |= {"gpt_oss": "GptOssForCausalLM"}
# A static cache has places for more than will be written.
CACHES = {"dynamic": {}, "static": {"cache_implementation": "static", "max_cache_len": 23}}


def language_model(name: str, kernel: str = "sdpa", **config):
    return FAMILIES[name](kernel, CAUSAL[name], **config)


def base(model):
    """The model under the head that picks words."""
    return getattr(model, model.base_model_prefix)


def whole(model, text: Tensor, mask: Tensor | None = None) -> list[Tensor]:
    """Of each layer, the weights of one pass over the whole text without a cache; placed as in generation."""
    given = {"input_ids": text}
    if mask is not None:
        mask = torch.cat([mask, mask.new_ones(len(mask), text.shape[1] - mask.shape[1])], dim=1)
        given |= {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp(min=0)}
    return list(tables_of(copy.deepcopy(base(model)), given).values())


def generated(model, prompt: Tensor, **given) -> tuple:
    """The text with what was written, the same as unwatched, and the gaze."""
    given = {"max_new_tokens": NEW, "do_sample": False, **given}
    before = model.generate(prompt, **given)
    with watch(model) as gaze:
        text = model.generate(prompt, **given)
    assert torch.equal(before, text)
    assert gaze.proved is True
    return text, gaze


def check(gaze, expected: list[Tensor], real: Tensor | None = None) -> None:
    """The last word that was written was not read: it has no row."""
    assert len(gaze.runs) == 1
    assert len(gaze) == len(expected)
    for look, table in zip(gaze, expected, strict=True):
        rows = look.rows
        assert (rows, look.keys) == (table.shape[2] - 1, table.shape[2] - 1)
        assert look.positions == list(range(rows))
        apart = (look.weights() - table[:, :, :rows, :rows]).abs().amax((1, 3))
        if real is not None:
            real_rows = torch.cat([real, real.new_ones(len(real), rows - real.shape[1])], dim=1).bool()
            assert not look.weights()[~real_rows[:, None, :, None].expand_as(look.weights())].any()
            apart = apart[real_rows]
        assert apart.max() < CLOSE


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_steps_are_joined(name, kernel):
    # https://github.com/huggingface/transformers/issues/26174, /33296, /40752: 6 × 6, 1 × 7 …, unlabelled.
    model = language_model(name, kernel)
    text, gaze = generated(model, ids(1, PROMPT))
    check(gaze, whole(model, text))
    for look in gaze:
        assert look.steps == NEW
        assert [call.shape[2:] for call in look.calls] == [(6, 6), (1, 7), (1, 8), (1, 9), (1, 10)]
        assert look.starts == [0] * NEW
        assert (look.states()[..., :PROMPT, PROMPT:] == ABSENT).all()
        assert (look.states()[..., PROMPT, PROMPT + 1 :] == ABSENT).all()
        assert look.entropy().shape == (1, len(look.heads), look.rows)
    assert f"{PROMPT + NEW - 1} × {PROMPT + NEW - 1} in {NEW} steps" in repr(gaze)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_keys_that_steps_have_in_common_are_kept_once(cache):
    given = CACHES[cache] | ({"max_cache_len": 61} if cache == "static" else {})
    _, gaze = generated(language_model("llama"), ids(1, PROMPT), max_new_tokens=41, **given)
    look = gaze[0]
    assert look.steps == 41
    assert len({call.key.untyped_storage().data_ptr() for call in look.calls}) == 1
    a_row = look.head_dim * 4
    assert look.memory <= a_row * (look.rows * len(look.heads) + (look.keys * 9 // 8 + 8) * look.num_kv_heads)
    assert all(call.mask is None for call in look.calls[1:])  # it has said all: places that were not written


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("name", ["llama", "mistral"])
@pytest.mark.parametrize("missing", [0, 2])
def test_caches_with_and_without_left_padding(name, cache, missing, kernel):
    model = language_model(name, kernel, **({"sliding_window": 64} if name == "mistral" else {}))
    mask = torch.ones(2, PROMPT, dtype=torch.long)
    mask[1, :missing] = 0
    text = ids(2, PROMPT).masked_fill(mask == 0, 0)
    text, gaze = generated(model, text, attention_mask=mask, **CACHES[cache])
    check(gaze, whole(model, text, mask), mask)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("name", ["mistral", "gpt_oss"])
def test_a_window_that_moves_on(name, cache):
    model = language_model(name, "eager" if name == "gpt_oss" else "sdpa")
    text, gaze = generated(model, ids(1, PROMPT), max_new_tokens=9, **CACHES[cache])
    check(gaze, whole(model, text))
    look = gaze[0]
    assert look.starts[-1] == look.rows - 5
    assert not look.weights().tril(-5).any()


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("name", ["marian", "t5"])
def test_an_encoder_and_a_decoder(name, cache):
    head = {"marian": "MarianMTModel", "t5": "T5ForConditionalGeneration"}[name]
    model = FAMILIES[name]("sdpa", head, **({"num_decoder_layers": 2} if name == "t5" else {}))
    mask = torch.ones(2, PROMPT, dtype=torch.long)
    mask[1, -2:] = 0
    source = ids(2, PROMPT).masked_fill(mask == 0, 0)
    text, gaze = generated(model, source, attention_mask=mask, **CACHES[cache])
    assert len(gaze.runs) == 1
    plain = copy.deepcopy(model.model if name == "marian" else model)
    expected = tables_of(
        plain, {"input_ids": source, "attention_mask": mask, "decoder_input_ids": text[:, :-1]}
    )
    for look, ((path, kind), table) in zip(gaze, expected.items(), strict=True):
        assert look.path.endswith(path)
        assert look.kind == kind
        steps = 1 if "encoder." in look.path and "decoder." not in look.path else NEW
        assert (look.steps, look.rows, look.keys) == (steps, *table.shape[2:])
        assert look.positions == list(range(look.rows))
        real = mask.bool() if steps == 1 else torch.ones(2, look.rows, dtype=torch.bool)
        assert (look.weights() - table).abs().amax((1, 3))[real].max() < CLOSE


def test_two_decodings_in_one_watch_are_two_runs():
    model = language_model("llama")
    prompts = ids(1, PROMPT), ids(1, PROMPT + 2, seed=1)
    with watch(model) as gaze:
        texts = [
            model.generate(prompt, max_new_tokens=NEW, do_sample=False) for prompt in (*prompts, prompts[0])
        ]
    assert [run.steps for run in gaze.runs] == [NEW] * 3
    for run, text in zip(gaze.runs, texts, strict=True):
        for look, table in zip(run, whole(model, text), strict=True):
            assert (look.weights() - table[..., :-1, :-1]).abs().max() < CLOSE
    assert gaze[0] is gaze.runs[2][0]
    assert torch.equal(gaze.runs[0][1].weights(), gaze.runs[2][1].weights())


@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_a_prompt_read_in_chunks(cache):
    model, prompt = language_model("llama"), ids(1, 11)
    text, gaze = generated(model, prompt, prefill_chunk_size=4, **CACHES[cache])
    check(gaze, whole(model, text))
    assert [call.shape[2] for call in gaze[0].calls] == [4, 4, 3, 1, 1, 1, 1]


def test_a_cropped_cache_opens_a_run_that_knows_where_it_stands():
    from transformers.cache_utils import DynamicCache

    model, text = language_model("llama"), ids(1, 9)
    cache = DynamicCache(config=model.config)
    with watch(model) as gaze, torch.no_grad():
        model(text, cache=cache)
        cache.crop(-4)
        other = ids(1, 3, seed=2)
        model(other, cache=cache)
        model(ids(1, 1, seed=3), cache=cache)
    read = torch.cat([text[:, :5], other, ids(1, 1, seed=3)], dim=1)
    assert [run.steps for run in gaze.runs] == [1, 2]
    for look, table in zip(gaze, whole(model, read), strict=True):
        assert look.positions == [5, 6, 7, 8]
        assert (look.rows, look.keys) == (4, 9)
        assert (look.weights() - table[..., 5:, :]).abs().max() < CLOSE


@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_a_watch_that_begins_in_the_middle_of_a_text(cache):
    # https://github.com/bojieli/ai-agent-book/issues/346: 290 × 561 of 850 tokens: row 0 is token 560.
    from transformers.cache_utils import DynamicCache, StaticCache

    model, text = language_model("llama", max_position_embeddings=1024), ids(1, 850)
    config = model.config
    kept = StaticCache(config=config, max_cache_len=900) if cache == "static" else DynamicCache(config=config)
    with torch.no_grad():
        model(text[:, :560], cache=kept)
        with watch(model) as gaze:
            model(text[:, 560:561], cache=kept)
            model(text[:, 561:], cache=kept)
    for look, table in zip(gaze, whole(model, text), strict=True):
        assert look.positions == list(range(560, 850))
        assert (look.weights(heads=[1, 5]) - table[:, [1, 5], 560:, :]).abs().max() < CLOSE
    scene = gaze[0].scene(1, tokens=[str(i) for i in range(850)], rows=range(3))
    assert list(scene.rows) == ["560", "561", "562"]


def test_beams_are_true_whatever_the_cache_does_to_them():
    model = language_model("llama")
    with watch(model) as gaze:
        model.generate(ids(1, PROMPT), num_beams=3, max_new_tokens=NEW, do_sample=False)
    assert gaze.proved is True
    assert sum(run.steps for run in gaze.runs) == NEW
    rows = [look.positions for run in gaze.runs for look in run if look.path.endswith("layers.1.self_attn")]
    assert [place for places in rows for place in places] == list(range(PROMPT + NEW - 1))
    assert all(look.batch in (1, 3) for run in gaze.runs for look in run)
    for run in gaze.runs:  # what is joined has the same text before it
        for look in run:
            for call, after in zip(look.calls, look.calls[1:], strict=False):
                assert torch.equal(call.key, after.key[:, :, : call.shape[3]])


def test_tokens_that_are_guessed_and_taken_back():
    model = language_model("gpt2")
    prompt = torch.tensor([[5, 6, 7, 8, 5, 6, 7]])  # it guesses 8 from the text
    text, gaze = generated(model, prompt, prompt_lookup_num_tokens=3)
    expected = whole(model, text)
    assert gaze.proved is True
    for run in gaze.runs:
        for look, table in zip(run, expected, strict=True):
            for row, place in enumerate(look.positions):
                if place < table.shape[2] - 1 and place < PROMPT:
                    found = look.weights(rows=[row])[0, :, 0]
                    assert (found[:, : place + 1] - table[0, :, place, : place + 1]).abs().max() < CLOSE
