"""`watch` on Hugging Face's models, held against what their own eager path returns."""

import pytest
import torch
from families import FAMILIES, KEYS, ROWS, hidden, padded, tables_of, text, two_texts, two_texts_padded
from torch import Tensor

from mirada import watch
from mirada.watching.look import MASKED

EACH = [(name, kernel) for name, family in FAMILIES.items() for kernel in family.kernels]
CLOSE = 5e-6


def watched(model, inputs):
    """The gaze of a run whose outputs are those of runs before and after it."""
    with torch.no_grad():
        before = model(**inputs)
        with watch(model) as gaze:
            seen = model(**inputs)
        after = model(**inputs)
    pairs = list(zip(hidden(before), hidden(seen), hidden(after), strict=True))
    assert pairs
    for plain, looked_at, again in pairs:
        assert torch.equal(plain, looked_at)
        assert torch.equal(plain, again)
    return gaze


def check(gaze, expected: dict[tuple[str, str], Tensor], rows=None) -> None:
    """`rows`, (batch, rows) True where it counts: what is in the padding looks as it likes in eager."""
    assert gaze.proved is True
    assert gaze.unseen == []
    assert len(gaze.runs) == 1
    for place, table in expected.items():
        weights = gaze[place].weights()
        assert weights.shape == table.shape
        assert weights.dtype == torch.float32
        apart = (weights - table).abs().amax((1, 3))
        if rows is not None:
            apart = apart[rows[place] if isinstance(rows, dict) else rows]
        assert apart.max() < CLOSE, place


@pytest.mark.parametrize(("name", "kernel"), EACH)
def test_every_layer_is_seen_and_is_what_eager_returns(name, kernel):
    # https://github.com/huggingface/transformers/issues/30978: nothing, from a ViT as it comes;
    # issues/32086, /35270: looking changed what the model gave.
    family = FAMILIES[name]
    model, inputs = family(kernel), family.inputs()
    gaze = watched(model, inputs)
    assert [(look.path, look.kind) for look in gaze] == list(family.paths)
    assert {look.kernel for look in gaze} == {f"transformers {kernel}"}
    assert {look.steps for look in gaze} == {1}
    assert not any(look.training for look in gaze)
    expected = tables_of(model, inputs)
    check(gaze, expected)
    for table in expected.values():  # else nothing would tell one table from another
        assert table.amax(-1).mean() > 1.1 / table.shape[-1]


def test_the_implementation_that_a_model_takes_by_itself():
    model = FAMILIES["vit"](kernel=None)
    assert [(look.path, look.kind) for look in watched(model, FAMILIES["vit"].inputs())] == list(
        FAMILIES["vit"].paths
    )


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "gemma2"])
def test_nobody_looks_ahead(name):
    # https://github.com/huggingface/transformers/issues/30652
    family = FAMILIES[name]
    for look in watched(family(family.kernels[0]), text()):
        weights = look.weights()
        assert not weights.triu(1).any()
        assert (look.states().triu(1) == MASKED).sum() == weights[..., 0, 0].numel() * KEYS * (KEYS - 1) / 2
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_a_window_and_sinks_are_as_they_are():
    gaze = watched(FAMILIES["gpt_oss"]("eager"), text())
    windowed, full = gaze
    assert not windowed.weights().tril(-5).any()
    assert full.weights().tril(-5).any()
    for look in gaze:  # shown, never renormalised
        assert look.row_sums().mean() < 0.97
        assert look.row_sums().max() < 1 + 1e-6


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
@pytest.mark.parametrize(
    ("name", "side"), [("bert", "right"), ("gpt2", "left"), ("llama", "left"), ("mistral", "left")]
)
def test_padding_is_masked(name, side, kernel):
    model, inputs = FAMILIES[name](kernel), padded(side)
    gaze = watched(model, inputs)
    real = inputs["attention_mask"].bool()
    check(gaze, tables_of(model, inputs), real)
    for look in gaze:
        weights, states = look.weights(), look.states()
        assert not weights[1, ..., ~real[1]].any()
        assert (states[1, ..., ~real[1]] == MASKED).all()
        if side == "left":  # https://github.com/unslothai/unsloth/issues/9848: zero, not NaN, and masked
            assert not weights[1, :, ~real[1]].any()
            assert (states[1, :, ~real[1]] == MASKED).all()
            assert look.row_sums()[1, :, ~real[1]].eq(0).all()


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["t5", "marian"])
def test_an_encoder_and_a_decoder_padded_to_their_greatest_length(name, kernel):
    # https://github.com/jessevig/bertviz/issues/121
    family, inputs = FAMILIES[name], two_texts_padded()
    model = family(kernel)
    gaze = watched(model, inputs)
    source, target = inputs["attention_mask"].bool(), inputs["decoder_attention_mask"].bool()
    real = {(path, kind): source if path.startswith("encoder") else target for path, kind in family.paths}
    check(gaze, tables_of(model, inputs), real)
    for look in gaze:
        keys = target if look.kind == "self" and look.path.startswith("decoder") else source
        for sample, here in enumerate(keys):
            assert not look.weights()[sample, ..., ~here].any()
            assert (look.states()[sample, ..., ~here] == MASKED).all()


def test_encoder_and_decoder_may_differ_in_depth_and_heads():
    gaze = watched(FAMILIES["marian"](), two_texts())
    assert [look.heads for look in gaze] == [(0, 1, 2, 3)] * 2 + [(0, 1)] * 6
    sizes = {(look.path.split(".")[0], look.kind): (look.rows, look.keys) for look in gaze}
    assert sizes == {
        ("encoder", "self"): (KEYS, KEYS),
        ("decoder", "self"): (ROWS, ROWS),
        ("decoder", "cross"): (ROWS, KEYS),
    }


def test_windows_of_an_image_stay_windows():
    # https://github.com/microsoft/Swin-Transformer/issues/168, SHI-Labs/Neighborhood-Attention-Transformer#77
    gaze = watched(FAMILIES["swin"](), FAMILIES["swin"].inputs())
    assert [(look.batch, look.rows, look.keys) for look in gaze] == [(32, 9, 9), (32, 9, 9), (8, 9, 9)]
    assert "32 windows" in repr(gaze)
    # The second is shifted: what lies on two sides of the image is kept apart by adding −100. It is no mask.
    assert gaze[1].weights().amin() < 1e-20 < gaze[0].weights().amin()


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["bert", "marian"])
def test_training_with_dropout(name, kernel):
    # https://github.com/idiap/fast-transformers/issues/131: weights before dropout
    alone = {"bert": {"attention_probs_dropout_prob": 0.4, "hidden_dropout_prob": 0.0}}
    model = FAMILIES[name](kernel, **alone.get(name, {"attention_dropout": 0.4, "dropout": 0.0}))
    inputs = FAMILIES[name].inputs()

    def step() -> list[Tensor]:
        torch.manual_seed(1)
        model.zero_grad()
        output = model(**inputs)[0]
        output.square().sum().backward()
        grads = [weight.grad for weight in model.parameters() if weight.grad is not None]
        return [output.detach(), *(grad.clone() for grad in grads)]

    model.train()
    before = step()
    with watch(model) as gaze:
        seen = step()
    assert len(before) > 20
    assert all(map(torch.equal, before, seen))
    assert all(look.training for look in gaze)
    assert gaze.proved is True
    for look in gaze:
        torch.testing.assert_close(look.row_sums(), torch.ones(look.batch, len(look.heads), look.rows))
    first = FAMILIES[name].paths[0]  # what comes before it has no dropout
    assert (gaze[first].weights() - tables_of(model.eval(), inputs)[first]).abs().max() < CLOSE


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile:UserWarning")
@pytest.mark.filterwarnings("ignore:_compile flag on create_block_mask:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
def test_flex_attention():
    model, inputs = FAMILIES["llama"]("flex_attention"), padded("left")
    with torch.no_grad():
        # It compiles its kernel, which needs a compiler of C++; watched, it runs as it is written.
        with torch.compiler.set_stance("force_eager"):
            before = model(**inputs)[0]
        with watch(model) as gaze:
            seen = model(**inputs)[0]
    assert torch.equal(before, seen)
    assert [(look.path, look.kernel) for look in gaze] == [
        (f"layers.{i}.self_attn", "flex_attention") for i in range(2)
    ]
    check(gaze, tables_of(model, inputs), inputs["attention_mask"].bool())


def test_half_precision_and_autocast():
    model, inputs = FAMILIES["llama"]().bfloat16(), padded("left")
    assert watched(model, inputs).proved is True
    model = FAMILIES["llama"]()
    with torch.autocast("cpu", torch.bfloat16):
        gaze = watched(model, inputs)
    assert gaze.proved is True
    assert gaze[0].calls[0].query.dtype == torch.bfloat16
    assert gaze[0].weights().dtype == torch.float32


def test_inference_mode_and_chosen_modules():
    model, inputs = FAMILIES["bert"](), padded("right")
    with torch.inference_mode(), watch(model, "encoder.layer.2", heads=[3, 1]) as gaze:
        model(**inputs)
    (look,) = gaze
    assert (look.path, look.heads) == ("encoder.layer.2.attention.self", (3, 1))
    expected = tables_of(model, inputs)[look.path, "self"][:, [3, 1]]
    assert (look.weights() - expected)[0].abs().max() < CLOSE


def test_a_sink_for_each_row():
    """As Inkling 2 has it, from the row itself, with a bias that depends on the row as well."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from transformers.models.inkling2.modeling_inkling2 import eager_attention_forward

    class Attention(torch.nn.Module):
        num_key_value_groups = 3

        def forward(self, query, key, **given):
            function = ALL_ATTENTION_FUNCTIONS.get_interface("eager", eager_attention_forward)
            return function(self, query, key, key, scaling=0.4, **given)

    query, key, sinks = torch.randn(2, 6, 5, 7), torch.randn(2, 2, 5, 7), 2 * torch.randn(2, 6, 5, 1)
    bias = torch.randn(2, 6, 5, 5)
    ahead = torch.ones(5, 5).triu(1) * torch.finfo(torch.float32).min
    with watch(model := Attention()) as gaze:
        _, weights = model(query, key, attention_mask=ahead, position_bias=bias, sinks=sinks)
    look = gaze[0]
    assert gaze.proved is True
    assert (look.weights() - weights).abs().max() < CLOSE
    assert (look.row_sums() - weights.sum(-1)).abs().max() < CLOSE
    assert weights.sum(-1).min() < 0.5  # the sinks take what they take
    assert (look.states() == MASKED).sum() == 2 * 6 * 10
    call = look.calls[0]
    assert (call.head(1, 4).weights(slice(0, 5)) - weights[1, 4]).abs().max() < CLOSE
