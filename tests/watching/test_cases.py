"""Faults that people met elsewhere with models of Hugging Face's: each must come out right here."""

import subprocess
import sys

import pytest
import torch
from families import FAMILIES, GROUPED, WORDS, ids, tables_of, text

from mirada import watch
from mirada.watching.watch import NothingSeen


def fresh(code: str) -> str:
    """What a process of its own prints."""
    begin = "import os; os.environ.update(HF_HUB_OFFLINE='1', TRANSFORMERS_VERBOSITY='error')\n"
    done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_one_layer_wanted_one_layer_kept():
    # https://github.com/huggingface/transformers/issues/22469; resemble-ai/chatterbox/issues/398
    model, inputs = FAMILIES["vit"](), FAMILIES["vit"].inputs()
    with torch.no_grad(), watch(model, "layers.1.attention") as gaze:
        model(**inputs)
    (look,) = gaze
    assert look.path == "layers.1.attention"
    assert gaze.memory == 2 * look.batch * look.rows * 28 * 4
    with pytest.raises(ValueError, match=r"layers\.7.*matches no module"), watch(model, "layers.7"):
        pass


def test_each_look_of_a_hybrid_names_its_module():
    # https://github.com/IINemo/lm-polygraph/pull/463: fewer attention layers than layers
    from transformers.models.lfm2.modeling_lfm2 import Lfm2Config, Lfm2Model

    config = Lfm2Config(
        **{**GROUPED, "num_hidden_layers": 4, "block_multiple_of": 4},
        layer_types=["conv", "full_attention", "conv", "full_attention"],
    )
    torch.manual_seed(0)
    model = Lfm2Model._from_config(config, attn_implementation="sdpa").eval()
    with torch.no_grad(), watch(model) as gaze:
        model(**text())
    assert [look.path for look in gaze] == ["layers.1.self_attn", "layers.3.self_attn"]
    assert gaze["layers.3"] is gaze[1]
    assert gaze.proved is True


def test_each_query_head_has_its_own_key_head():
    # https://github.com/TransformerLensOrg/TransformerLens/issues/1553: 14 query heads over 2 key heads
    config = {"num_attention_heads": 14, "num_key_value_heads": 2, "num_hidden_layers": 1, "hidden_size": 56}
    for kernel in ("sdpa", "eager"):
        model = FAMILIES["llama"](kernel, **config)
        with torch.no_grad(), watch(model) as gaze:
            model(**text())
        (look,) = gaze
        assert (len(look.heads), look.num_kv_heads) == (14, 2)
        model.set_attn_implementation("eager")
        table = model(**text(), output_attentions=True).attentions[0].detach()
        assert (look.weights(heads=[1]) - table[:, 1:2]).abs().max() < 5e-6
        assert (look.weights() - table).abs().max() < 5e-6


def test_grouped_heads_packed_for_one_row():
    # With a mask, transformers lays the query heads of a group in the place of rows.
    model = FAMILIES["llama"](num_hidden_layers=1)
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[1, :3] = 0
    from transformers.cache_utils import DynamicCache

    tokens, cache = ids(2, 9), DynamicCache(config=model.config)
    with torch.no_grad():
        model(tokens[:, :8], attention_mask=mask[:, :8], cache=cache)
        with watch(model) as gaze:
            model(tokens[:, 8:], attention_mask=mask, cache=cache)
    (look,) = gaze
    assert (look.rows, look.keys, look.positions, len(look.heads)) == (1, 9, [8], 6)
    (table,) = tables_of(model, {"input_ids": tokens, "attention_mask": mask}).values()
    assert (look.weights() - table[:, :, 8:]).abs().max() < 5e-6
    assert gaze.proved is True


def test_rows_that_were_written_bear_their_own_names():
    # bojieli/ai-agent-book#346: 560 tokens read, 290 written, and row 0 bore the name of token 0
    from transformers.cache_utils import DynamicCache

    model, tokens = FAMILIES["llama"](num_hidden_layers=1), ids(1, 16)
    cache = DynamicCache(config=model.config)
    names = [f"token {i}" for i in range(16)]
    with torch.no_grad():
        model(tokens[:, :11], cache=cache)
        with watch(model) as gaze:
            model(tokens[:, 11:], cache=cache)
    gaze.tokens = names
    (look,) = gaze
    assert (look.rows, look.keys, look.positions) == (5, 16, [11, 12, 13, 14, 15])
    scene = look.scene(0)
    assert (list(scene.rows), list(scene.columns)) == (names[11:], names)
    assert look.row(0, 0).startswith("Row 0, 'token 11'")


# One process for two cases: most of the time of each goes by until transformers is there.
LATE_AND_LONG = """
import resource
import mirada, torch
mirada.watch  # loaded now
from transformers import modeling_utils
from transformers.models.bert.modeling_bert import BertConfig, BertModel
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaModel
torch.set_num_threads(1)
torch.manual_seed(0)
config = BertConfig(hidden_size=8, num_attention_heads=2, num_hidden_layers=1, intermediate_size=8)
model = BertModel(config).eval()
with torch.no_grad(), mirada.watch(model) as gaze:
    model(torch.tensor([[1, 2, 3]]))
print(len(gaze), gaze[0].path, gaze[0].kernel)

config = LlamaConfig(hidden_size=8, num_attention_heads=1, num_key_value_heads=1, head_dim=8, vocab_size=97,
    num_hidden_layers=1, intermediate_size=8, max_position_embeddings=40_000)
model = LlamaModel._from_config(config, attn_implementation="sdpa").eval()
words = torch.randint(97, (1, 32_768))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
with torch.inference_mode():
    model(words[:, :128], use_cache=False)
    before = peak()
    with mirada.watch(model) as gaze:
        model(words, use_cache=False)
(look,) = gaze
assert gaze.proved, look
assert look.calls[0].mask.is_causal
print(round(peak() - before))
"""


@pytest.fixture(scope="module")
def late_and_long():
    return fresh(LATE_AND_LONG).splitlines()


def test_transformers_may_come_after_mirada_and_leaves_as_it_was(late_and_long):
    assert late_and_long[0] == "1 encoder.layer.0.attention.self transformers sdpa"


def test_a_text_of_32768_tokens_builds_no_mask_of_its_square(late_and_long):
    # https://github.com/TransformerLensOrg/TransformerLens/issues/479, /490: 4,295 MB a head
    assert int(late_and_long[1]) < 150


def test_two_families_in_one_watch():
    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.reads, self.writes = FAMILIES["bert"](), FAMILIES["llama"]("eager")

        def forward(self, **inputs):
            return self.reads(**inputs)[0].sum() + self.writes(**inputs)[0].sum()

    model = Both().eval()
    with torch.no_grad(), watch(model) as gaze:
        model(**text())
    expected = [("reads." + path, "sdpa") for path, _ in FAMILIES["bert"].paths]
    expected += [("writes." + path, "eager") for path, _ in FAMILIES["llama"].paths]
    assert [(look.path, look.kernel.removeprefix("transformers ")) for look in gaze] == expected
    for part, name in ((model.reads, "reads."), (model.writes, "writes.")):
        for (path, kind), table in tables_of(part, text()).items():
            assert (gaze[name + path, kind].weights() - table).abs().max() < 5e-6


def test_all_is_put_back_after_an_exception():
    # https://github.com/TransformerLensOrg/TransformerLens/issues/1795
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

    def state():
        functions = {name: ALL_ATTENTION_FUNCTIONS[name] for name in ("sdpa", "flex_attention")}
        homes = [vars(home).copy() for home in AttentionInterface.__mro__[:-1]]
        return homes, functions, dict(ALL_ATTENTION_FUNCTIONS), dict(AttentionInterface._global_mapping)

    model, before = FAMILIES["bert"](), state()
    with pytest.raises(IndexError), watch(model) as gaze:  # noqa: PT012
        model(**text())
        assert state() != before
        model(torch.full((1, 3), WORDS + 1))
    assert len(gaze) == 3
    assert state() == before
    with pytest.raises(NothingSeen), watch(model):
        pass
    assert state() == before


def test_attention_written_out_by_hand_gets_a_true_sentence():
    # Each of these multiplies and takes the softmax itself: either it is proved, or it is named as not seen.
    from transformers.models.bloom.modeling_bloom import BloomConfig, BloomModel
    from transformers.models.xlm.modeling_xlm import XLMConfig, XLMModel

    torch.manual_seed(0)
    bloom = BloomModel(BloomConfig(vocab_size=WORDS, hidden_size=28, n_layer=2, n_head=4)).eval()
    xlm = XLMModel(XLMConfig(vocab_size=WORDS, emb_dim=28, n_layers=2, n_heads=4)).eval()
    for model, paths in (
        (bloom, ["h.0.self_attention", "h.1.self_attention"]),
        (xlm, ["attentions.0", "attentions.1"]),
    ):
        with torch.no_grad():
            plain = model(**text(), output_attentions=True)
            with watch(model) as gaze:
                output = model(**text())
        assert torch.equal(plain[0], output[0])
        assert sorted([look.path for look in gaze] + [path for path, _ in gaze.unseen]) == paths
        tables = dict(zip(paths, plain.attentions, strict=True))
        for look in gaze:
            assert look.proved is True
            assert (look.weights() - tables[look.path]).abs().max() < 5e-6
