"""Tasks on pictures: digits, and a folder of anybody's own in which much is odd."""

import json
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from PIL import Image
from tiny import everything, stopped

from mirada.models.vision import VisionTransformer
from mirada.training.data import fingerprints
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import described, find_task
from mirada.training.images_task import ImagesTask
from mirada.training.loop import train
from mirada.training.options import options_for
from mirada.training.pictures import open_picture
from mirada.training.runs import load_run
from mirada.training.task import Batch
from mirada.training.tasks_images import Digits, ImageFolder

SMALL = {"d_model": 12, "heads": 3, "blocks": 2, "lr": 3e-3, "batch_size": 11}


# Digits.


def test_a_quarter_of_each_digit_is_kept_for_the_examination():
    task = Digits()
    (pixels,), targets = (batch := task.pictures()[0]).inputs, batch.targets
    assert pixels.shape == (1797, 1, 8, 8)
    assert (int(pixels.min()), int(pixels.max())) == (0, task.brightest)
    learnt, unseen = task.data(5)
    assert (len(learnt), len(unseen)) == (task.train_size, task.validation_size) == (1347, 450)
    for digit in range(10):
        whole = int((targets == digit).sum())
        assert int((unseen.targets == digit).sum()) == round(whole / 4)
        assert int((learnt.targets == digit).sum()) == whole - round(whole / 4)
    assert not torch.isin(fingerprints(unseen), fingerprints(learnt)).any()
    assert not torch.equal(task.data(6)[1].targets, unseen.targets)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A run that has learnt a little."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("digits") / "run"
    return train("digits", out=folder, epochs=16, d_model=32, heads=2, blocks=1, lr=4e-3, warmup=20)


def test_digits_are_learnt(digits):
    assert isinstance(digits.model, VisionTransformer)
    assert digits.score.tokens == digits.score.sequences > 0.8


def test_the_maps_show_whom_cls_and_each_patch_look_at(digits):
    maps = digits.maps["self"]
    assert maps.shape == (len(digits.snapshots), 1, 2, 17, 17)
    torch.testing.assert_close(maps.sum(-1), torch.ones(maps.shape[:-1]))


def test_a_digit_is_asked_for_by_its_number_or_as_a_picture(digits, tmp_path):
    _, unseen = digits.task.data(digits.options.seed)
    right = 0
    for i in range(23):
        number, label = digits.task.show(unseen, i)
        pixels = digits.task.read(number)[0]
        assert pixels[0].tolist() == unseen.inputs[0][i].tolist()
        answer = digits.answer(number)
        right += answer.text == label
        # As somebody would hand it in: large, dark on paper, in the middle of a sheet.
        ink = 250 - pixels[0, 0] * 15
        large = Image.fromarray(ink.numpy()).resize((80, 80), Image.Resampling.NEAREST)
        sheet = Image.new("L", (211, 173), 250)
        sheet.paste(large, (90, 40))
        sheet.save(tmp_path / "sheet.png")
        again = digits.task.read(str(tmp_path / "sheet.png"))[0]
        assert again.shape == (1, 1, 8, 8)
        right_again = digits.answer(str(tmp_path / "sheet.png")).text == answer.text
        assert right_again or not is_filled(pixels[0, 0])
    assert right >= 17


def is_filled(pixels):
    """Whether it is as wide as it is high: then a sheet with it is cut to just these pixels."""
    dark = pixels > 8
    return bool(dark[0].any() and dark[-1].any() and dark[:, 0].any() and dark[:, -1].any())


def test_dark_on_light_and_light_on_dark_are_the_same_digit(tmp_path):
    task = Digits()
    pixels = task.read("12")[0][0, 0]
    for name, values in (("light", 5 + pixels * 15), ("dark", 250 - pixels * 15)):
        image = Image.fromarray(values.numpy()).resize((160, 160), Image.Resampling.NEAREST)
        framed = Image.new("L", (200, 200), 5 if name == "light" else 250)
        framed.paste(image, (20, 20))
        framed.save(tmp_path / f"{name}.png")
    one, other = (task.read(str(tmp_path / f"{name}.png"))[0] for name in ("light", "dark"))
    assert one.tolist() == other.tolist()
    assert int(one.max()) >= 14


def test_an_empty_sheet_is_an_empty_digit(tmp_path):
    Image.new("RGB", (31, 37), "white").save(tmp_path / "empty.png")
    assert Digits().read(str(tmp_path / "empty.png"))[0].unique().tolist() == [0]


def test_a_digit_that_there_is_not():
    with pytest.raises(TrainingError, match="There is no digit 1797: they are numbered from 0 to 1796"):
        Digits().read("1797")
    with pytest.raises(TrainingError, match=r"none\.png"):
        Digits().read("none.png")


def test_where_the_answer_looks(digits):
    gaze = digits.gaze("17")
    (look,) = gaze
    assert look.tokens == ("[CLS]", *map(str, range(1, 17)))
    assert look.weights().shape == (1, 2, 17, 17)


def test_a_run_that_was_stopped_comes_to_the_same():
    whole = train("digits", steps=9, out="whole", **SMALL)
    half = stopped("digits", 4, steps=9, out="half", **SMALL)
    assert (half.step, half.finished) == (4, False)
    assert everything(train(resume="half"))[0] == everything(whole)[0]
    assert everything(load_run("half"))[2:] == everything(load_run("whole"))[2:]


def test_what_a_picture_does_not_allow():
    with pytest.raises(TrainingError, match="reads a picture all at once: leave out causal"):
        options_for(Digits(), causal=True)
    for positions in ("rotary", "sinusoidal"):
        with pytest.raises(TrainingError, match=f"learned or none, not {positions}"):
            options_for(Digits(), positions=positions)
    model = Digits().model(options_for(Digits(), positions="none"))
    assert not any("positions" in name for name, _ in model.named_parameters())


# A folder of one's own.


def paint(path, colour, size=(29, 23)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)


@pytest.fixture
def folder(tmp_path):
    """Seven reddish pictures and eleven bluish ones, no two alike."""
    for i in range(7):
        paint(tmp_path / "photos/Rojos 🍎" / f"{i}.png", (200 + i, 10, 5))
    for i in range(11):
        paint(tmp_path / "photos/azul" / "más" / f"b {i}.bmp", (5, 10, 200 + i))
    return tmp_path / "photos"


def test_each_folder_is_a_class(folder):
    task = ImageFolder(folder, side=6, patch=3)
    assert task.labels == ["Rojos 🍎", "azul"]
    learnt, unseen = task.data(0)
    assert learnt.inputs[0].shape == (7 - 2 + 11 - 3, 3, 6, 6)
    assert learnt.inputs[0].dtype == torch.uint8
    assert sorted(unseen.targets.tolist()) == [0, 0, 1, 1, 1]
    for batch in (learnt, unseen):
        for i in range(len(batch)):
            path, label = task.show(batch, i)
            assert Path(path).relative_to(folder).parts[0] == label
            assert task.read(path)[0][0].tolist() == batch.inputs[0][i].tolist()


def test_it_is_learnt_and_answers_where_the_folder_is_gone(folder, tmp_path):
    task = ImageFolder(folder, side=6, patch=3)
    run = train(task, out="run", epochs=20, **SMALL)
    assert run.score.sequences == 1
    shutil.move(folder / "azul/más/b 3.bmp", tmp_path / "azul.bmp")
    shutil.rmtree(folder)
    again = load_run("run")
    assert again.answer(str(tmp_path / "azul.bmp")).text == "azul"
    with pytest.raises(TrainingError, match=r"photos\" cannot be read"):
        train(resume="run", epochs=21)


def test_a_run_goes_on_with_the_same_pictures_only(folder):
    task = ImageFolder(folder, side=6, patch=3)
    whole = train(task, steps=7, out="whole", **SMALL)
    stopped(task, 3, steps=7, out="half", **SMALL)
    told = json.loads(Path("half/run.json").read_text("utf-8"))["task"]
    wanted = {"name": "images", "folder": str(folder), "side": 6, "patch": 3, "labels": ["Rojos 🍎", "azul"]}
    assert told == wanted
    assert described(told).describe() == wanted
    paint(folder / "azul/new.png", (1, 2, 3))
    with pytest.raises(TrainingError, match="no longer gives the data"):
        train(resume="half")
    (folder / "azul/new.png").unlink()
    assert everything(train(resume="half"))[0] == everything(whole)[0]


def test_what_cannot_be_read_is_named_and_left_out(folder):
    (folder / "azul/cat.png").write_text("a text, called cat.png")
    (folder / "azul/empty.jpg").touch()
    whole = (folder / "Rojos 🍎/0.png").read_bytes()
    (folder / "Rojos 🍎/cut.png").write_bytes(whole[:-30])
    (folder / "Rojos 🍎/loop.png").symlink_to(folder / "Rojos 🍎/loop.png")
    (folder / "azul/x.png").mkdir()
    for hidden in (".DS_Store", "azul/.hidden.png", ".git/a.png", "azul/.thumbs/b.png"):
        (folder / hidden).parent.mkdir(exist_ok=True)
        (folder / hidden).write_text("no picture")
    task = ImageFolder(folder, side=6, patch=3)
    with pytest.warns(TrainingWarning) as caught:
        batch, names = task.pictures()
    said = [str(each.message) for each in caught]
    for name, sentence in zip(("cut.png", "loop.png", "cat.png", "empty.jpg"), said, strict=False):
        assert name in sentence
    assert said[4:] == ["Left out: 4 of 22 files. The others are learnt from."]
    assert len(batch) == len(names) == 18
    assert task.labels == ["Rojos 🍎", "azul"]


def test_a_picture_that_is_there_twice_is_not_examined_on(folder):
    for i in range(7):
        shutil.copy(folder / f"Rojos 🍎/{i}.png", folder / f"Rojos 🍎/copy of {i}.png")
    for seed in range(5):
        learnt, unseen = ImageFolder(folder, side=6, patch=3).data(seed)
        assert not torch.isin(fingerprints(unseen), fingerprints(learnt)).any()
    for path in folder.rglob("*.*"):
        if path.is_file():
            paint(path, "red")
    with pytest.raises(TrainingError, match="all pictures that could be examined were learnt already"):
        ImageFolder(folder, side=6, patch=3).data(0)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: shutil.rmtree(folder / "azul"), r"two folders of pictures.*\(found: 1\)"),
        (lambda folder: shutil.rmtree(folder), r"photos\" cannot be read \(No such file"),
        (
            lambda folder: [path.unlink() for path in folder.glob("R*/[1-9].png")],
            r"\"Rojos 🍎\".* too few.* 1\.",
        ),
        (lambda folder: (folder / "none").mkdir(), r"\"none\".* too few pictures that can be read: 0\."),
    ],
)
def test_too_little_to_learn_from(folder, spoil, said):
    spoil(folder)
    with pytest.raises(TrainingError, match=said):
        ImageFolder(folder).data(0)


def test_sizes_that_do_not_fit(folder):
    for side, patch in ((10, 3), (4, 8)):
        with pytest.raises(
            TrainingError, match=f"{side} × {side} pixels cannot be cut into patches of {patch} ×"
        ):
            ImageFolder(folder, side, patch)


def test_a_folder_says_how_it_is_learnt(folder):
    with pytest.raises(TrainingError, match="mirada train images FOLDER"):
        find_task("images")
    with pytest.raises(TrainingError, match="mirada train images"):
        find_task(folder)


def test_names_that_are_no_utf8_are_learnt_all_the_same(folder):
    odd = Path(str(folder) + "/odd\udcff")
    try:
        for i in range(3):
            paint(odd / f"{i}\udcfe.png", (7, 200 + i, 7))
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    task = ImageFolder(folder, side=6, patch=3)
    assert task.labels == ["Rojos 🍎", "azul", "odd�"]
    assert train(task, steps=2, out="run", **SMALL).finished
    assert load_run("run").task.labels == task.labels


# A task of somebody's own.


class Stripes(ImagesTask):
    name = "stripes"
    labels = ("across", "down")
    side, patch, channels = 4, 2, 1
    held_out = 0.5

    def pictures(self):
        pixels = torch.randint(0, 256, (101, 1, 4, 1), dtype=torch.uint8).expand(-1, -1, -1, 4)
        return Batch((torch.cat((pixels, pixels.mT)),), torch.arange(2).repeat_interleave(101)), [
            str(i) for i in range(202)
        ]


def test_a_task_of_ones_own_says_its_pictures_only(tmp_path):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = train(Stripes, epochs=20, out="run", **SMALL)
    assert run.score.tokens > 0.9
    Image.linear_gradient("L").save(tmp_path / "gradient.png")
    assert run.answer(str(tmp_path / "gradient.png")).text == "across"
    picture = open_picture(tmp_path / "gradient.png")
    assert run.task.pixels(picture).shape == (1, 4, 4)
