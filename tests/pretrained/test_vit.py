"""from_vit: the logits, gradients and weights of Hugging Face's ViT, tiny and random, and what is refused."""

import pytest
import torch
from transformers import ViTConfig, ViTForImageClassification, ViTModel

from mirada import VisionConfig, VisionTransformer, from_vit, num_parameters, watch

SIZE, ROWS, COLUMNS = 5, 3, 2
SMALL = {
    "hidden_size": 28,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "intermediate_size": 37,
    "image_size": (ROWS * SIZE, COLUMNS * SIZE),
    "patch_size": SIZE,
    "num_labels": 11,
    "initializer_range": 0.5,
}
EXACT = {"rtol": 0, "atol": 1e-12}


def theirs_of(kind=ViTForImageClassification, dtype=torch.float64, **options):
    torch.manual_seed(7)
    model = kind(ViTConfig(**{**SMALL, **options}))
    with torch.no_grad():  # zeros and ones would hide swaps
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.to(dtype).eval()


def images(height=ROWS * SIZE, width=COLUMNS * SIZE, channels=3):
    torch.manual_seed(9)
    return torch.randn(2, channels, height, width, dtype=torch.float64)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hidden_act": "relu", "layer_norm_eps": 1e-3},
        {"hidden_act": "gelu_pytorch_tanh", "num_channels": 1},
        {"patch_size": (SIZE, SIZE), "image_size": [ROWS * SIZE, COLUMNS * SIZE]},
    ],
)
def test_logits_are_theirs(options):
    theirs = theirs_of(**options)
    ours, given = from_vit(theirs), images(channels=options.get("num_channels", 3))
    torch.testing.assert_close(ours(given), theirs(given).logits, **EXACT)
    assert num_parameters(ours) == num_parameters(theirs)
    assert ours.config.block.eps == theirs.config.layer_norm_eps


@pytest.mark.parametrize("sides", [(15, 10), (10, 15), (5, 35), (25, 20)])
def test_an_oblong_picture_is_answered_as_theirs_resamples_positions(sides):
    # Theirs take the root of the number of positions, so the grid they were learned for must be a square.
    theirs = theirs_of(image_size=3 * SIZE)
    given = images(*sides)
    expected = theirs(given, interpolate_pos_encoding=True).logits
    torch.testing.assert_close(from_vit(theirs)(given), expected, **EXACT)


def test_each_place_is_theirs():
    theirs, given = theirs_of(), images()
    ours = from_vit(theirs)
    tokens = ours.stack(ours.embedding(given))
    torch.testing.assert_close(tokens, theirs.vit(given).last_hidden_state, **EXACT)


def test_gradients_are_theirs():
    theirs, given = theirs_of(), images()
    ours = from_vit(theirs)
    ours(given).square().sum().backward()
    theirs(given).logits.square().sum().backward()
    layer = theirs.vit.layers[1].attention
    expected = torch.cat([part.weight.grad for part in (layer.q_proj, layer.k_proj, layer.v_proj)])
    torch.testing.assert_close(ours.stack.blocks[1].attention.qkv_proj.weight.grad, expected)
    kernel = theirs.vit.embeddings.patch_embeddings.projection.weight.grad
    torch.testing.assert_close(ours.embedding.projection.weight.grad, kernel.flatten(1))


def test_whom_each_patch_looks_at_is_theirs():
    theirs, given = theirs_of(), images()
    theirs.set_attn_implementation("eager")
    ours = from_vit(theirs)
    with torch.no_grad(), watch(ours) as gaze:
        ours(given)
    expected = theirs(given, output_attentions=True).attentions
    assert gaze.proved is True
    for look, table in zip(gaze, expected, strict=True):
        torch.testing.assert_close(look.weights(), table.float())


def test_weights_are_copied_with_mode_dtype_and_what_learns():
    theirs = theirs_of(dtype=torch.float32).train()
    theirs.vit.embeddings.requires_grad_(False)
    before = torch.get_rng_state()
    ours = from_vit(theirs)
    assert torch.equal(torch.get_rng_state(), before)
    assert ours.training
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}
    assert {name for name, p in ours.named_parameters() if not p.requires_grad} == {
        name for name, _ in ours.named_parameters() if name.startswith("embedding.")
    }
    theirs.classifier.weight.data.zero_()
    assert ours.output_proj.weight.count_nonzero()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"patch_size": (5, 10)}, r"patch_size=\(5, 10\): ours are squares"),
        ({"hidden_act": "silu"}, "hidden_act='silu'"),
        ({"qkv_bias": False}, "qkv_bias=False"),
        ({"hidden_dropout_prob": 0.1}, "hidden_dropout_prob=0.1"),
        ({"attention_probs_dropout_prob": 0.2}, "attention_probs_dropout_prob=0.2"),
        ({"num_labels": 0}, "there is no classifier"),
    ],
)
def test_what_ours_cannot_say_is_refused_by_name(options, says):
    with pytest.raises(ValueError, match=says):
        from_vit(theirs_of(**options))


def test_weights_too_many_or_too_few_are_refused_by_name():
    theirs = theirs_of()
    theirs.vit.layers[1].adapter = torch.nn.Linear(28, 28)
    with pytest.raises(ValueError, match=r"no place for vit\.layers\.1\.adapter\.weight"):
        from_vit(theirs)
    theirs = theirs_of()
    theirs.vit.layers[2].mlp.fc1 = torch.nn.Identity()
    with pytest.raises(ValueError, match=r"there is no vit\.layers\.2\.mlp\.fc1\.weight"):
        from_vit(theirs)


def test_other_models_are_refused():
    ours = VisionTransformer(VisionConfig(image_size=(4, 6), patch_size=2, outputs=3, d_model=12))
    for model in (theirs_of(ViTModel), ours):
        with pytest.raises(TypeError, match=f"ViTForImageClassification, got {type(model).__name__}"):
            from_vit(model)
