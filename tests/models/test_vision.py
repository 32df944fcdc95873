"""The vision transformer: its sum in loops, its grids, what must never change its logits, what it refuses."""

import json
import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from small import EXACT

from mirada import (
    BlockConfig,
    VisionConfig,
    VisionTransformer,
    describe_cost,
    num_parameters,
    summary,
)

FACTS = json.loads((Path(__file__).parents[1] / "facts.json").read_text(encoding="utf-8"))["patches"]
BATCH, CHANNELS, OUTPUTS, SIZE = 3, 2, 7, 5
ROWS, COLUMNS = 2, 3
SIDES = (ROWS * SIZE, COLUMNS * SIZE)
KINDS = {
    "cls": {},
    "mean": {"pooling": "mean"},
    "no positions": {"positions": "none"},
    "post-norm": {"block": BlockConfig(norm_first=False, activation="gelu")},
}


def vit(seed=3, dtype=torch.float64, **options):
    torch.manual_seed(seed)
    sizes = {"image_size": SIDES, "patch_size": SIZE, "channels": CHANNELS, "outputs": OUTPUTS}
    sizes |= {"d_model": 12, "num_heads": 2, "num_blocks": 2, "d_mlp": 23}
    return VisionTransformer(VisionConfig(**{**sizes, **options})).to(dtype)


def images(height=SIDES[0], width=SIDES[1], batch=BATCH):
    return torch.randn(batch, CHANNELS, height, width, dtype=torch.float64)


def linear(layer, row):
    """weight · row + bias, over plain numbers."""
    lines = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    return [sum(w * x for w, x in zip(line, row, strict=True)) + bias for line, bias in lines]


def by_hand(model, picture):
    """Patch by patch: projection, [CLS], positions; blocks and norm; and the answer."""
    embedding, numbers = model.embedding, picture.tolist()
    places = [] if embedding.cls is None else [embedding.cls.weight[0].tolist()]
    for row in range(ROWS):
        for column in range(COLUMNS):
            patch = [
                numbers[channel][row * SIZE + y][column * SIZE + x]
                for channel in range(CHANNELS)
                for y in range(SIZE)
                for x in range(SIZE)
            ]
            places.append(linear(embedding.projection, patch))
    if embedding.positions is not None:
        table = embedding.positions.weight.tolist()
        places = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(places, table, strict=True)]
    x = torch.tensor([places], dtype=torch.float64)
    with torch.no_grad():
        for block in model.stack:  # each of them is compared with loops of its own
            x = block(x)
        x = (x if model.stack.norm is None else model.stack.norm(x))[0].tolist()
    answer = x[0] if embedding.cls is not None else [sum(column) / len(x) for column in zip(*x, strict=True)]
    return torch.tensor(linear(model.output_proj, answer), dtype=torch.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_what_the_loops_say(kind):
    model, given = vit(**KINDS[kind]), images()
    logits = model(given)
    assert logits.shape == (BATCH, OUTPUTS)
    for sample in range(BATCH):
        torch.testing.assert_close(logits[sample], by_hand(model, given[sample]), **EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_batch_changes_nothing_and_samples_do_not_see_each_other(kind):
    model, given = vit(**KINDS[kind]), images()
    logits = model(given)
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(given[order]), logits[order], **EXACT)
    for sample in range(BATCH):
        torch.testing.assert_close(model(given[sample : sample + 1]), logits[sample : sample + 1], **EXACT)
    changed = given.clone()
    changed[1] = math.nan
    assert model(changed)[[0, 2]].isfinite().all()


def swapped(given):
    """The first patch and the last change places."""
    changed = given.clone()
    changed[..., :SIZE, :SIZE], changed[..., -SIZE:, -SIZE:] = (
        given[..., -SIZE:, -SIZE:],
        given[..., :SIZE, :SIZE],
    )
    return changed


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_without_positions_a_picture_is_a_bag_of_patches(pooling):
    given = images()
    blind = vit(positions="none", pooling=pooling)
    torch.testing.assert_close(blind(swapped(given)), blind(given), **EXACT)
    sees = vit(pooling=pooling)
    assert (sees(swapped(given)) - sees(given)).abs().amax(1).min() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_every_pixel_counts(kind):
    model, given = vit(**KINDS[kind]), images().requires_grad_()
    model(given).square().sum().backward()
    assert (given.grad != 0).all()


def test_the_lessons_picture():
    from sklearn.datasets import load_sample_image

    said = FACTS["vit"]
    photograph = torch.from_numpy(load_sample_image("china.jpg").copy())[::4, ::4][:96, :160]
    image = photograph.permute(2, 0, 1)[None] / 255
    model = vit(
        image_size=(96, 160),
        patch_size=FACTS["patch"],
        channels=3,
        d_model=said["d_model"],
        dtype=torch.float32,
    )
    assert model.grid(image) == tuple(FACTS["grid"])
    x = model.embedding(image)
    assert list(x.shape) == said["tokens_with_cls"]
    x = next(iter(model.stack))(x)
    assert list(x.shape) == said["after_block"]
    assert list(x[:, 0].shape) == said["cls"]


def test_the_positions_of_its_own_grid_are_the_table_itself():
    model = vit()
    assert model.embedding.places((ROWS, COLUMNS)) is model.embedding.positions.weight
    with pytest.raises(ValueError, match='positions="none"'):
        vit(positions="none").embedding.places((ROWS, COLUMNS))


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("grid", [(COLUMNS, ROWS), (3, 2), (5, 7), (1, 1), (61, 61)])
def test_positions_are_resampled_to_the_very_size(grid, pooling):
    # dino#8, dinov2#378: 976 / 16 by a scale gave 60. dinov2#506, vit-pytorch#136: as many patches in another
    # grid lie elsewhere.
    model = vit(pooling=pooling)
    places = model.embedding.places(grid)
    first = int(pooling == "cls")
    assert places.shape == (first + grid[0] * grid[1], 12)
    table = model.embedding.positions.weight
    assert torch.equal(places[:first], table[:first])
    picture = table[first:].reshape(ROWS, COLUMNS, 12).permute(2, 0, 1)[None]
    expected = F.interpolate(picture, size=grid, mode="bicubic", align_corners=False)[0]
    for row in range(grid[0]):
        for column in range(grid[1]):
            assert torch.equal(places[first + row * grid[1] + column], expected[:, row, column])


def test_positions_that_grow_from_left_to_right_still_do_on_another_grid():
    model = vit()
    with torch.no_grad():
        model.embedding.positions.weight[1:] = torch.arange(3.0).double().expand(ROWS, COLUMNS).reshape(-1, 1)
    places = model.embedding.places((3, 11))[1:, 0].reshape(3, 11)
    torch.testing.assert_close(places, places[:1].expand(3, 11))
    assert (places.diff(dim=1) > -0.05).all()
    assert places[0, -1] - places[0, 0] > 1.9


def test_a_picture_of_976_pixels_has_61_rows_and_is_answered():
    # dino#8, dinov2#378
    model = vit(image_size=(224, 224), patch_size=16, num_blocks=1, dtype=torch.float32)
    given = torch.rand(1, CHANNELS, 976, 32)
    assert model.grid(given) == model.grid((976, 32)) == (61, 2)
    assert model.embedding(given).shape == (1, 123, 12)
    assert model(given).isfinite().all()


def test_resampled_positions_learn():
    model = vit()
    model(images(25, 10)).square().sum().backward()
    assert (model.embedding.positions.weight.grad != 0).any(1).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_other_precisions_are_close_on_both_grids(dtype):
    model = vit().requires_grad_(False)
    for given in (images(), images(25, 10)):
        expected = model.double()(given)
        found = model.to(dtype)(given.to(dtype))
        assert found.dtype == dtype
        room = 16 * torch.finfo(dtype).eps
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=room * float(expected.abs().max()))
        model.double()


def test_names_of_what_is_read():
    assert vit().tokens(images()) == ["[CLS]", "0", "1", "2", "3", "4", "5"]
    assert vit(pooling="mean").tokens((5, 10)) == ["0", "1"]
    assert vit().grid(images(15, 10)) == (3, 2)


def test_a_batch_of_none():
    assert vit()(images(batch=0)).shape == (0, OUTPUTS)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (images(11, 15), ValueError, "11 × 15 pixels"),
        (images()[0], ValueError, r"write images\[None\]"),
        (images()[:, :1], ValueError, r"must be \(batch, 2, height, width\)"),
        (images(0, 15), ValueError, "at least one patch"),
        (images().to(torch.uint8), TypeError, "write images / 255"),
    ],
)
def test_pictures_that_are_refused(given, error, says):
    with pytest.raises(error, match=says):
        vit()(given)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"image_size": (11, 15)}, "11 × 15 pixels"),
        ({"image_size": 10}, r"image_size must be \(height, width\)"),
        ({"image_size": (10, 15, 2)}, r"image_size must be \(height, width\)"),
        ({"image_size": (0, 15)}, r"image_size must be \(height, width\)"),
        ({"patch_size": 0}, "patch_size must be a whole number of at least 1, but is 0"),
        ({"channels": None}, "channels must be a whole number"),
        ({"outputs": None}, "outputs must be a whole number"),
        ({"pooling": "max"}, "pooling must be one of cls, mean, but is 'max'"),
        ({"positions": "rotary"}, "positions of a picture are"),
        ({"positions": "sinusoidal"}, "positions of a picture are"),
        ({"tied": True}, "pictures have none"),
    ],
)
def test_configs_that_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        vit(**options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_config_goes_through_json_and_back(kind):
    config = vit(**KINDS[kind]).config
    assert VisionConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_vit_base_has_the_parameters_of_the_paper_and_224_pixels_are_196_patches():
    with torch.device("meta"):
        model = VisionTransformer(
            VisionConfig(
                image_size=(224, 224),
                patch_size=16,
                outputs=1000,
                d_model=768,
                num_heads=12,
                num_blocks=12,
                block=BlockConfig(activation="gelu", eps=1e-6),
            )
        )
    assert num_parameters(model) == 86_567_656
    assert model.config.num_patches == 196
    (table,) = describe_cost(model, 224, 224).tables
    assert table.queries == table.keys == 197
    said = summary(model)
    assert said.startswith("VisionTransformer: 86,567,656 parameters\n")
    assert "embedding.projection         768 × 768 weights + 768 biases = 590,592" in said
    assert "embedding.cls                1 × 768 = 768" in said
    assert "embedding.positions          197 × 768 = 151,296" in said
    assert "output_proj                  768 × 1,000 weights + 1,000 biases = 769,000" in said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sides", [SIDES, (25, 10)])
def test_operations_are_those_that_pytorch_counts(kind, sides):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    model = vit(**KINDS[kind])
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model(images(*sides, batch=1))
    assert describe_cost(model, *sides).flops == counter.get_total_flops()


def test_costs_of_no_picture():
    with pytest.raises(ValueError, match="VisionTransformer takes 2 whole lengths"):
        describe_cost(vit(), 10)
    with pytest.raises(ValueError, match="11 × 15 pixels"):
        describe_cost(vit(), 11, 15)


def test_it_learns_which_half_of_the_picture_is_bright():
    torch.manual_seed(5)
    model = vit(outputs=2, dtype=torch.float32)
    answers = torch.arange(32) % 2
    given = 0.1 * torch.randn(32, CHANNELS, *SIDES)
    given[answers == 1, :, :SIZE] += 1
    given[answers == 0, :, SIZE:] += 1
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(30):
        optimiser.zero_grad()
        F.cross_entropy(model(given), answers).backward()
        optimiser.step()
    assert (model(given).argmax(1) == answers).all()


def test_compiled_is_the_same():
    model, given = vit(), images()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(given), model(given), **EXACT)
