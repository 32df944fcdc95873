"""Edits: each changes exactly what its formula says, on every path that attention can take."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import mirada
from mirada import edits

HEADS, WIDTH, ROWS = 3, 5, 7


class Plain(nn.Module):
    """One layer, written as somebody would: what it gives is what attention gives, head beside head."""

    def __init__(self, causal: bool = True):
        super().__init__()
        self.proj = nn.Linear(HEADS * WIDTH, 3 * HEADS * WIDTH)
        self.causal = causal

    def qkv(self, x):
        return self.proj(x).unflatten(-1, (3, HEADS, WIDTH)).permute(2, 0, 3, 1, 4)

    def forward(self, x):
        return F.scaled_dot_product_attention(*self.qkv(x), is_causal=self.causal)


class Stack(nn.Module):
    def __init__(self, depth: int = 2):
        super().__init__()
        self.layers = nn.ModuleList(Plain() for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x).transpose(1, 2).flatten(2)
        return x


def formula(q, k, v, *, causal=True, scores_of=lambda s: s, weights_of=lambda w: w):
    """softmax(QKᵀ/√d)·V in float64, with something done to the scores or to the weights."""
    q, k, v = q.double(), k.double(), v.double()
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    scores = scores_of(scores)
    weights = torch.nan_to_num(scores.softmax(-1), 0.0)
    return weights_of(weights) @ v


def same(found, wanted):
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=2e-6)


@pytest.fixture
def model():
    return Plain()


@pytest.fixture
def x():
    return torch.randn(2, ROWS, HEADS * WIDTH)


def edited(model, x, *changes):
    with mirada.watch(model, edits=changes) as gaze:
        output = model(x)
    assert gaze.proved, gaze
    return output, gaze


def test_block_look_takes_these_keys_from_these_rows_of_these_heads(model, x):
    output, gaze = edited(model, x, edits.block_look([4, -1], 2, heads=1))

    def blocked(scores):
        scores[:, 1, [4, 6], 2] = -math.inf
        return scores

    same(output, formula(*model.qkv(x), scores_of=blocked))
    assert gaze[0].weights()[:, 1, [4, 6], 2].abs().max() == 0
    assert (gaze[0].states(heads=1, rows=4)[..., 2] == 1).all()  # masked, and said so
    assert gaze[0].weights()[:, 0, 4, 2].min() > 0


def test_a_row_that_may_look_at_nobody_takes_nothing(model, x):
    output, gaze = edited(model, x, edits.block_look(3))
    assert output[:, :, 3].abs().max() == 0
    assert gaze[0].row_sums(rows=3).abs().max() == 0
    same(output[:, :, [0, 1, 2, 4]], formula(*model.qkv(x))[:, :, [0, 1, 2, 4]])


@pytest.mark.parametrize("mean", [False, True])
def test_ablate_head_gives_zero_or_the_mean_over_the_rows(model, x, mean):
    output, _ = edited(model, x, edits.ablate_head(heads=[0, 2], mean=mean))
    wanted = formula(*model.qkv(x))
    for head in (0, 2):
        wanted[:, head] = wanted[:, head].mean(-2, keepdim=True) if mean else 0
    same(output, wanted)


def test_temperature_divides_the_product_and_not_the_bias(x):
    class Biased(Plain):
        def forward(self, x):
            return F.scaled_dot_product_attention(*self.qkv(x), attn_mask=bias)

    bias, model = torch.randn(ROWS, ROWS), Biased()
    output, _ = edited(model, x, edits.temperature(0.5, heads=2))

    def cooled(scores):
        scores[:, 2] *= 2
        return scores + bias

    same(output, formula(*model.qkv(x), causal=False, scores_of=cooled))


@pytest.mark.parametrize("name", ["query", "key"])
def test_add_to_a_query_or_a_key_of_these_places_and_heads(model, x, name):
    vector = torch.randn(WIDTH)
    change = getattr(edits, f"add_to_{name}")(vector, [1, 5], heads=[1, 2])
    output, gaze = edited(model, x, change)
    q, k, v = model.qkv(x)
    moved = {"query": q, "key": k}[name].clone()
    moved[:, 1:, [1, 5]] += vector
    same(output, formula(moved if name == "query" else q, moved if name == "key" else k, v))
    torch.testing.assert_close(getattr(gaze[0].calls[0], name).expand_as(moved), moved.detach())


def test_add_to_the_keys_of_one_head_of_a_group_leaves_the_others_theirs():
    layer = mirada.MultiHeadAttention(12, 6, num_kv_heads=2, head_dim=5).eval()
    x, vector = torch.randn(2, ROWS, 12), torch.randn(5)
    with torch.no_grad(), mirada.watch(layer) as before:
        layer(x)
    with torch.no_grad(), mirada.watch(layer, edits=[edits.add_to_key(vector, 3, heads=4)]) as after:
        layer(x)
    same_heads = [0, 1, 2, 3, 5]
    old, new = before[0].weights(), after[0].weights()
    torch.testing.assert_close(old[:, same_heads], new[:, same_heads])
    call = before[0].calls[0]
    key = call.key[:, [1]].clone()
    key[:, :, 3] += vector
    same(new[:, [4]], (call.query[:, [4]].double() @ key.double().mT / math.sqrt(5)).softmax(-1))


def test_patch_puts_one_runs_look_into_another(model, x):
    other = torch.randn_like(x)
    with mirada.watch(model) as gaze:
        model(other)
    output, after = edited(model, x, edits.patch(gaze, heads=1))
    wanted = formula(*model.qkv(x))
    q, k, _ = model.qkv(other)
    wanted[:, 1] = formula(q, k, model.qkv(x)[2])[:, 1]
    same(output, wanted)
    torch.testing.assert_close(after[0].weights(1), gaze[0].weights(1))


def test_patch_brings_the_other_runs_mask_along(x):
    layer = mirada.MultiHeadAttention(15, 3).eval()
    with torch.no_grad(), mirada.watch(layer) as gaze:
        layer(x, mask=mirada.Mask.padding([3, 7]))
    with torch.no_grad(), mirada.watch(layer, edits=[edits.patch(gaze, heads=[0, 2])]) as after:
        layer(x, mask=mirada.Mask.causal())
    assert after.proved
    weights = after[0].weights()
    torch.testing.assert_close(weights[:, [0, 2]], gaze[0].weights([0, 2]))
    assert weights[0, 0, :, 3:].abs().max() == 0  # padded there
    assert weights[0, 1].triu(1).abs().max() == 0  # causal here


def test_patch_says_what_does_not_fit(model, x):
    with mirada.watch(model) as gaze:
        model(x[:, :5])
    with pytest.raises(ValueError, match="had 5 rows, 5 keys, batch 2, and has 7, 7, 2"):
        edited(model, x, edits.patch(gaze))


def test_several_edits_follow_one_another(model, x):
    changes = [edits.temperature(2.0), edits.block_look(key=0), edits.ablate_head(heads=0)]
    output, _ = edited(model, x, *changes)

    def both(scores):
        scores = scores / 2
        scores[..., 0] = -math.inf
        return scores

    wanted = formula(*model.qkv(x), scores_of=both)
    wanted[:, 0] = 0
    same(output, wanted)


def test_only_the_modules_that_it_chooses_change(x):
    stack = Stack()
    with torch.no_grad(), mirada.watch(stack) as before:
        stack(x)
    with torch.no_grad(), mirada.watch(stack, edits=[edits.temperature(3.0, modules="layers.1")]) as after:
        stack(x)
    assert torch.equal(before[0].weights(), after[0].weights())
    assert not torch.allclose(before[1].weights(), after[1].weights())


def test_gradients_go_through_an_edit(model, x):
    vector = torch.zeros(WIDTH, requires_grad=True)
    output, _ = edited(model, x, edits.add_to_query(vector, 4), edits.block_look(6))
    output.sum().backward()
    assert vector.grad is not None
    assert vector.grad.abs().max() > 0
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_it_is_undone_on_leaving(model, x):
    before = model(x)
    edited(model, x, edits.ablate_head())
    assert torch.equal(model(x), before)
    with pytest.raises(RuntimeError, match="on purpose"), mirada.watch(model, edits=[edits.ablate_head()]):
        raise RuntimeError("on purpose")
    assert torch.equal(model(x), before)


class Ours(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = mirada.MultiHeadAttention(16, 4)

    def forward(self, x):
        return self.layer(x)


class Torch(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.layer, self.options = nn.MultiheadAttention(16, 4, batch_first=True), options

    def forward(self, x):
        return self.layer(x, x, x, **self.options)[0]


class Fast(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)

    def forward(self, x):
        return self.layer(x)


def hugging_face(implementation):
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertModel

    config = BertConfig(
        vocab_size=11, hidden_size=16, num_hidden_layers=1, num_attention_heads=4, intermediate_size=8
    )
    model = BertModel(config)
    model.set_attn_implementation(implementation)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = model

        def forward(self, x):
            return self.layer(inputs_embeds=x).last_hidden_state

    return Model()


MODELS = {
    "ours": Ours,
    "mha, weights": Torch,
    "mha, each head's weights": lambda: Torch(average_attn_weights=False),
    "mha, no weights": lambda: Torch(need_weights=False),
    "encoder layer": Fast,
    "transformers sdpa": lambda: hugging_face("sdpa"),
    "transformers eager": lambda: hugging_face("eager"),
}


@pytest.mark.parametrize("grad", [False, True], ids=["no grad", "grad"])
@pytest.mark.parametrize("name", MODELS)
def test_every_path_does_the_same_edit(name, grad):
    """Blocking the look at the last token is the same as padding it: the model with one token less."""
    model = MODELS[name]().eval()
    x = torch.randn(2, 7, 16)
    with torch.set_grad_enabled(grad):
        wanted = model(x[:, :6])
        with mirada.watch(model, edits=[edits.block_look(key=6)]) as gaze:
            found = model(x)
    assert gaze.proved
    assert gaze[0].weights()[..., 6].abs().max() == 0
    torch.testing.assert_close(found[:, :6], wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("grad", [False, True])
def test_the_weights_that_pytorch_hands_out_are_rebuilt(average, grad):
    layer, x = nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(2, 7, 16)
    with torch.set_grad_enabled(grad), mirada.watch(layer, edits=[edits.block_look(1, 2, heads=3)]) as gaze:
        _, weights = layer(x, x, x, average_attn_weights=average)
    seen = gaze[0].weights()
    torch.testing.assert_close(weights, seen.mean(1) if average else seen)
    assert seen[:, 3, 1, 2].abs().max() == 0


def test_padded_batches_on_the_fast_path():
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2, enable_nested_tensor=False
    ).eval()
    x, padding = torch.randn(2, 7, 16), torch.tensor([[False] * 7, [False] * 4 + [True] * 3])
    with torch.no_grad():
        wanted = encoder(x[1:, :4])
        with mirada.watch(encoder, edits=[edits.temperature(1.0)]) as gaze:
            found = encoder(x, src_key_padding_mask=padding)
    assert gaze.proved
    torch.testing.assert_close(found[1:, :4], wanted, rtol=0, atol=2e-6)


def test_what_cannot_be_edited_is_an_error_that_says_so(model, x):
    with pytest.raises(
        mirada.NothingSeen, match=r"temperature\(modules=\['proj'\], all heads\) changed nothing"
    ):
        edited(model, x, edits.temperature(2.0, modules="proj"))
    with pytest.raises(ValueError, match="head 3 is not there: there are 3, 0 to 2"):
        edited(model, x, edits.ablate_head(heads=3))
    with pytest.raises(ValueError, match="row 7 is not there: there are 7"):
        edited(model, x, edits.block_look(7))
    with pytest.raises(ValueError, match="temperature is 0; expected a positive"):
        edits.temperature(0)


def test_attention_written_by_hand_is_out_of_reach_and_said_to_be(x):
    class ByHand(nn.Module):
        def forward(self, x):
            return torch.softmax(x @ x.mT, -1) @ x

    with pytest.raises(ValueError, match="does not reach the model itself: its attention is written out by"):
        edited(ByHand(), x, edits.temperature(2.0))


def test_attention_that_could_not_be_followed_is_out_of_reach_and_said_to_be(x):
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.attention = Plain(), nn.Identity()

        def forward(self, x):
            y = self.first(x)
            return torch.softmax((y @ y.mT).tanh(), -1) @ y

    with pytest.raises(mirada.NothingSeen, match="written out by hand, where no edit reaches"):
        edited(Both(), x, edits.temperature(2.0, modules="attention"))


def test_compare_gives_before_after_and_their_difference(x):
    stack = Stack()
    found = mirada.compare(stack, x, [edits.ablate_head(modules="layers.1", heads=0)])
    with torch.no_grad():
        assert torch.equal(found.before, stack(x))
    assert torch.equal(found.difference, found.after - found.before)
    assert found.difference.abs().max() > 0
    assert torch.equal(found.gaze_before[1].weights(), found.gaze_after[1].weights())


def test_compare_starts_both_runs_from_the_same_random_numbers(x):
    class Noisy(Plain):
        def forward(self, x):
            return {"out": super().forward(F.dropout(x)), "name": "noisy"}

    noisy = Noisy()
    state = torch.get_rng_state()
    found = mirada.compare(noisy, {"x": x}, [edits.temperature(1.0)])
    assert found.difference["out"].abs().max() < 1e-6
    assert found.difference["name"] is None
    assert torch.equal(torch.get_rng_state(), state)
