"""A gaze laid over a picture: the model's own weights, each at its patch, with all else beside it."""

import pytest
import torch
from torch import nn
from transformers import (
    Dinov2WithRegistersConfig,
    Dinov2WithRegistersModel,
    SwinConfig,
    SwinModel,
    ViTConfig,
    ViTModel,
)

import mirada
from mirada import Mask, VisionConfig, VisionTransformer
from mirada.views.figures import alternative
from mirada.watching.patched import patched

SIZE, ROWS, COLUMNS = 5, 3, 7  # an oblong grid: vit-pytorch#136, dinov2#506
SIDES = (ROWS * SIZE, COLUMNS * SIZE)
HEADS, LAYERS, REGISTERS = 2, 3, 4
TINY = {
    "hidden_size": 22,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "image_size": ROWS * SIZE,
    "patch_size": SIZE,
    "initializer_range": 0.6,
    "attn_implementation": "eager",  # which gives the tables to compare with
}


def pictures():
    return torch.rand(2, 3, *SIDES, generator=torch.Generator().manual_seed(5))


def seen(model, **options):
    with torch.no_grad(), mirada.watch(model.eval()) as gaze:
        output = model(pictures(), **options)
    return gaze, output


def laid(gaze, query, **changes):
    asked = {"layer": -1, "head": None, "grid": None, "registers": 0, "temperature": 1.0, "sample": 0}
    return patched(gaze, SIDES, **{**asked, **changes}, query=query, language="en")


@pytest.fixture(scope="module")
def ours():
    torch.manual_seed(1)
    sizes = {"image_size": SIDES, "patch_size": SIZE, "outputs": 11}
    model = VisionTransformer(VisionConfig(**sizes, d_model=22, num_heads=HEADS, num_blocks=LAYERS))
    for block in model.stack:
        block.attention.qkv_proj.weight.data *= 3
    return seen(model)[0]


@pytest.fixture(scope="module")
def vit():
    torch.manual_seed(2)
    config = ViTConfig(**{**TINY, "image_size": SIDES}, intermediate_size=13)
    return seen(ViTModel(config, add_pooling_layer=False), output_attentions=True)


@pytest.fixture(scope="module")
def dino():
    torch.manual_seed(3)
    config = Dinov2WithRegistersConfig(**TINY, mlp_ratio=2, num_register_tokens=REGISTERS)
    return seen(Dinov2WithRegistersModel(config), output_attentions=True)


def test_all_of_them_are_proved(ours, vit, dino):
    for gaze, tokens in ((ours, 22), (vit[0], 22), (dino[0], 26)):
        assert len(gaze) == LAYERS
        assert {(look.rows, look.keys) for look in gaze} == {(tokens, tokens)}
        assert gaze.proved is True


@pytest.mark.parametrize("layer", [0, -1])
@pytest.mark.parametrize("head", [0, 1, None])
def test_each_weight_is_the_models_own_at_its_patch(vit, layer, head):
    gaze, output = vit
    table = output.attentions[layer][1]
    table = table.mean(0) if head is None else table[head]
    for number, (row, column) in ((0, (0, 0)), (9, (1, 2)), (20, (2, 6))):
        found = laid(gaze, number, layer=layer, head=head, sample=1)
        assert found.query == (row, column)
        assert found.weights.shape == (ROWS, COLUMNS)
        for i in range(ROWS):
            for j in range(COLUMNS):
                weight = table[1 + number, 1 + i * COLUMNS + j]
                torch.testing.assert_close(found.weights[i, j], weight)
        assert found.beside == {"[CLS]": pytest.approx(table[1 + number, 0].item(), rel=1e-5)}
        assert laid(gaze, (row, column), layer=layer, head=head, sample=1).weights.equal(found.weights)


def test_cls_looks_and_is_no_patch(ours):
    found = laid(ours, "[CLS]")
    row = ours[-1].weights(rows=0)[0, :, 0].mean(0)
    assert found.query == "[CLS]"
    torch.testing.assert_close(found.weights.flatten(), row[1:])
    assert found.beside["[CLS]"] == pytest.approx(row[0].item())


@pytest.mark.parametrize(("query", "row"), [("[CLS]", 0), ("register 2", 3), (8, 13)])
def test_registers_are_told_apart(dino, query, row):
    gaze, output = dino
    expected = output.attentions[-1][0].mean(0)[row]
    found = laid(gaze, query, registers=REGISTERS)
    assert list(found.beside) == ["[CLS]", *(f"register {i}" for i in range(REGISTERS))]
    torch.testing.assert_close(torch.tensor(list(found.beside.values())), expected[:5])
    torch.testing.assert_close(found.weights.flatten(), expected[5:])


def test_registers_that_are_not_mentioned_are_not_taken_for_patches(dino):
    gaze, _ = dino
    with pytest.raises(
        ValueError, match=r"into 25 \(beside \[CLS\]\) or 26, and .* has 26 tokens.*registers="
    ):
        laid(gaze, "[CLS]")
    with pytest.raises(ValueError, match=r"3 rows × 7 columns has 21 patches.*expected 25 patches beside"):
        laid(gaze, "[CLS]", grid=(ROWS, COLUMNS))
    with pytest.raises(ValueError, match=r"19 patches beside .* and 6 registers"):
        laid(gaze, "[CLS]", grid=(ROWS, COLUMNS), registers=6)


def test_a_model_without_cls_has_patches_alone():
    torch.manual_seed(4)
    sizes = {"image_size": SIDES, "patch_size": SIZE, "outputs": 2, "pooling": "mean"}
    gaze, _ = seen(VisionTransformer(VisionConfig(**sizes, d_model=22)))
    found = laid(gaze, 20)
    assert found.beside == {}
    torch.testing.assert_close(found.weights.flatten(), gaze[0].weights(rows=20)[0, :, 0].mean(0))
    with pytest.raises(ValueError, match=r"no '\[CLS\]' among the tokens: there are patches alone"):
        laid(gaze, "[CLS]")


@pytest.mark.parametrize("temperature", [0.5, 2.0, 1e6])
def test_temperature_divides_the_scores(ours, temperature):
    weights = ours[1].weights(rows=4)[0, :, 0].double()
    expected = weights ** (1 / temperature)
    expected = (expected / expected.sum(-1, keepdim=True)).mean(0)
    found = laid(ours, 3, layer=1, temperature=temperature)
    torch.testing.assert_close(found.weights.flatten(), expected[1:].float())


def test_none_is_through_all_layers(ours):
    rolled = ours.rollout(5, sample=1)[0]
    found = laid(ours, 4, layer=None, sample=1)
    assert torch.equal(found.weights.flatten(), rolled[1:])
    assert found.beside["[CLS]"] == rolled[0]
    for options in ({"head": 1}, {"temperature": 2.0}):
        with pytest.raises(ValueError, match="leave head and temperature out"):
            laid(ours, 4, layer=None, **options)


class Half(nn.Module):
    """Everybody looks at everybody but patch 9."""

    def forward(self, x):
        mirada.record(x, x, Mask.allowed((torch.arange(21) != 9)[None]))
        return x


def test_what_is_masked_is_no_zero():
    x = torch.randn(1, HEADS, 21, 5, generator=torch.Generator().manual_seed(6))
    x[..., 0, :] *= 30  # it looks at itself alone: its other weights are 0, and not masked
    with mirada.watch(model := Half()) as gaze:
        model(x)
    found = laid(gaze, 0)
    assert found.weights.isnan().nonzero().tolist() == [[1, 2]]
    assert (found.weights == 0).any()


@pytest.mark.parametrize(
    ("query", "changes", "says"),
    [
        ("[MASK]", {}, r"no '\[MASK\]' among the tokens: there are \[CLS\]; or choose a patch"),
        (21, {}, r"no patch 21: they are numbered 0 to 20, or \(row, column\) up to \(2, 6\)"),
        (-1, {}, "no patch -1"),
        ((3, 0), {}, r"no patch \(3, 0\)"),
        ((0, 7), {}, r"no patch \(0, 7\)"),
        (0, {"grid": (COLUMNS, ROWS + 1)}, "7 rows × 4 columns has 28 patches"),
        (0, {"grid": (-3, -7)}, "-3 rows × -7 columns"),
        (0, {"registers": -1}, "registers must be"),
        (0, {"temperature": 0.0}, "temperature must be a number above 0, but is 0"),
        (0, {"temperature": float("nan")}, "temperature must be"),
        (0, {"temperature": float("inf")}, "temperature must be"),
        (0, {"head": 2}, "head 2 is not there"),
        (0, {"sample": 2}, "sample 2 is not there"),
    ],
)
def test_what_is_not_there_is_named(ours, query, changes, says):
    with pytest.raises(ValueError, match=says):
        laid(ours, query, **changes)


def test_a_picture_of_another_shape_than_was_read_is_no_grid(ours):
    for sides in ((224, 224), (36, 84 + 1), (ROWS * SIZE, COLUMNS * SIZE + 1)):
        with pytest.raises(ValueError, match=rf"picture of {sides[0]} × {sides[1]} pixels.*grid=\(rows"):
            patched(ours, sides, -1, None, 0, None, 0, 1.0, 0, "en")
    # Enlarged alike, or with its grid said, it is the same picture.
    assert patched(ours, (36, 84), -1, None, 0, None, 0, 1.0, 0, "en").weights.shape == (ROWS, COLUMNS)
    assert patched(ours, (8, 9), -1, None, 0, (ROWS, COLUMNS), 0, 1.0, 0, "en").weights.shape == (3, 7)


def test_windows_are_no_picture():
    # Swin#168: each window is a sample of its own
    config = SwinConfig(image_size=20, patch_size=5, embed_dim=6, window_size=2, depths=[1], num_heads=[2])
    with torch.no_grad(), mirada.watch(model := SwinModel(config).eval()) as gaze:
        model(torch.rand(1, 3, 20, 20))
    with pytest.raises(ValueError, match=r"expected 3 patches beside .* or 4 without"):
        patched(gaze, (20, 20), -1, None, 0, (4, 4), 0, 1.0, 0, "en")


def test_what_looks_elsewhere_is_no_picture():
    class Cross(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = mirada.MultiHeadAttention(6, 2)

        def forward(self, x):
            return self.attention(x, x[:, 1:])

    with torch.no_grad(), mirada.watch(model := Cross()) as gaze:
        model(torch.rand(1, 22, 6))
    with pytest.raises(ValueError, match="no self-attention in this gaze"):
        laid(gaze, 0)


@pytest.mark.parametrize(("language", "says"), [("en", "register 3: "), ("es", "registro 3: ")])
def test_the_figure_says_it_in_both_languages(dino, language, says):
    gaze, _ = dino
    figure = gaze.overlay(pictures()[0], query=8, registers=REGISTERS, language=language)
    assert says in alternative(figure)
    top = laid(gaze, 8, registers=REGISTERS).weights.argmax().item()
    assert f"({'row' if language == 'en' else 'fila'} {top // COLUMNS}, " in alternative(figure)
    assert "[CLS]: " in alternative(figure)
