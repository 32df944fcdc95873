"""The Images page's own numbers are the library's: softmax, temperature, rollout, and what a patch is."""

import base64
import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
import torch
from PIL import Image

from mirada import patches
from mirada.lab import looking
from mirada.lab.image_routes import sample_png
from mirada.views.scene import Scene
from mirada.watching.watch import watch

NUMBERS = Path(__file__).parents[2] / "frontend/tests/images/numbers.json"
CHINA = base64.b64encode(sample_png("china.jpg", 0)).decode()


def scenes_in(answer):
    return [Scene.from_dict(each["scene"]) for each in answer["scenes"]]


def rolled(blocks):
    """Written out as loops. blocks: (heads, rows, keys) each, from the first on."""
    length = blocks[0].shape[-1]
    carried = torch.eye(length, dtype=torch.float64)
    for tables in blocks:
        after = torch.zeros_like(carried)
        for i in range(length):
            row = [tables[:, i, j].mean().item() + (i == j) for j in range(length)]
            for j in range(length):
                after[i] += row[j] / sum(row) * carried[j]
        carried = after
    return carried


@pytest.mark.parametrize("temperature", ["1", "0.25"])
def test_the_numbers_that_the_page_is_held_to_are_the_librarys(temperature):
    told = json.loads(NUMBERS.read_text("utf-8"))
    tables = torch.tensor(told["weights"][temperature], dtype=torch.float64)
    for each in told["scenes"]:
        scene = replace(Scene.from_dict(each["scene"]), temperature=float(temperature))
        torch.testing.assert_close(scene.weights(), tables[each["block"], each["head"]], rtol=0, atol=1e-15)
    theirs = torch.tensor(told["rollout"][temperature], dtype=torch.float64)
    torch.testing.assert_close(rolled(list(tables)), theirs, rtol=0, atol=1e-14)


def test_what_the_page_is_sent_is_what_the_model_does():
    """To five decimals of its vectors; and rolled out as `gaze.rollout` does."""
    answer = looking.seen_by_new(CHINA, "")
    model = looking.new_model(96, 160)
    images = pixels_of(answer["pixels"])[None] / 255
    with torch.no_grad(), watch(model) as gaze:
        model(images)
    tables = torch.stack([scene.weights() for scene in scenes_in(answer)]).unflatten(0, (3, 4))
    for block, look in enumerate(gaze):
        torch.testing.assert_close(look.weights()[0].double(), tables[block], rtol=0, atol=1e-6)
    torch.testing.assert_close(gaze.rollout().double(), rolled(list(tables)), rtol=0, atol=1e-6)


def test_the_sample_is_the_lessons_picture_and_is_read_as_it_is():
    from sklearn.datasets import load_sample_image

    lesson = torch.from_numpy(load_sample_image("china.jpg")[::4, ::4][:96, :160].copy()).permute(2, 0, 1)
    answer = looking.seen_by_new(CHINA, "")
    assert (answer["grid"], answer["patch"], answer["channels"]) == ([6, 10], 16, 3)
    assert answer["tokens"][0] == "[CLS]"
    assert len(answer["tokens"]) == 61
    assert torch.equal(pixels_of(answer["pixels"]), lesson)
    # Patch 11 is row 1, column 1; the page takes it apart as its test of `patchOf` says.
    assert torch.equal(patches(lesson[None], 16)[0, 11], lesson[:, 16:32, 16:32].flatten())


def test_the_new_model_is_always_the_same_and_draws_nothing_from_the_programs_numbers():
    torch.manual_seed(5)
    looking.new_model.cache_clear()
    first = looking.seen_by_new(CHINA, "")
    drawn = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(torch.rand(3), drawn)
    looking.new_model.cache_clear()
    assert looking.seen_by_new(CHINA, "")["scenes"] == first["scenes"]


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [
        (640, 427, (160, 96)),
        (427, 640, (96, 160)),
        (1, 1, (160, 160)),
        (7, 5003, (16, 160)),
        (5003, 7, (160, 16)),
        (160, 160, (160, 160)),
        (161, 33, (160, 32)),
    ],
)
def test_a_picture_of_any_size_becomes_whole_patches(width, height, size):
    pixels = torch.zeros(3, height, width, dtype=torch.uint8)
    pixels[1] = 131
    found = looking.fitted(pixels)
    assert tuple(found.shape) == (3, size[1], size[0])
    assert torch.equal(found, torch.tensor([0, 131, 0], dtype=torch.uint8)[:, None, None].expand_as(found))


def pixels_of(png):
    image = Image.open(BytesIO(base64.b64decode(png)))
    data = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return data.reshape(image.height, image.width, -1).permute(2, 0, 1)
