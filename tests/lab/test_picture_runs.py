"""Runs that learn from pictures lie in the list of the Train page, which draws rows of symbols."""

import shutil

import pytest
from PIL import Image
from serving import IDLE, served

from mirada.training.loop import train
from mirada.training.tasks_images import ImageFolder
from training.tiny import StopAt

TINY = {"steps": 5, "d_model": 6, "heads": 2, "seed": 3, "batch_size": 7, "snapshots_every": 3}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    for colour in ("red", "blue"):
        (work / "photos" / colour).mkdir(parents=True)
        for i in range(3):
            image = Image.new("RGB", (9, 9), colour)
            image.putpixel((4, i), (0, 255, 0))
            image.save(work / "photos" / colour / f"{i}.png")
    runs = work / "runs"
    runs.mkdir()
    train("copy", out=runs / "rows", **TINY)
    train("digits", out=runs / "digits", listener=StopAt(4), **TINY)
    train(ImageFolder(work / "photos", side=6, patch=3), out=runs / "photos", **TINY)
    shutil.rmtree(work / "photos")
    with served(runs, IDLE) as lab:
        yield lab


def test_they_are_listed_with_all_the_others(lab):
    told = {run["id"]: run for run in lab.get("/api/runs")["runs"]}
    assert {name: (run["task"], run["family"], run["state"], run["step"]) for name, run in told.items()} == {
        "rows": ("copy", "encoder", "finished", 5),
        "digits": ("digits", "vision", "paused", 4),
        "photos": ("images", "vision", "finished", 5),
    }


@pytest.mark.parametrize(("name", "tokens"), [("digits", 17), ("photos", 5)])
def test_they_are_told_whole(lab, name, tokens):
    told = lab.get(f"/api/runs/{name}")
    assert told["parameters"] > 0
    assert all(len(table) == tokens for table in told["maps"][0]["maps"][0])
    assert [data for _, kind, data in lab.events(name) if kind == "line"] == told["metrics"]


def test_the_train_page_does_not_offer_to_learn_from_pictures(lab):
    offered = lab.get("/api/tasks")["tasks"]
    assert "copy" in [task["name"] for task in offered]
    assert "vision" not in [task["family"] for task in offered]
