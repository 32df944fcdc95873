"""The routes of the Images page: what is refused and how, who can look, and that nothing is kept."""

import base64
import contextlib
import http.client
import json
import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from serving import IDLE, TOKEN, Client, served

from mirada.lab.image_routes import NOTES
from mirada.training.loop import train
from mirada.training.tasks_images import ImageFolder

TINY = {"steps": 3, "d_model": 8, "heads": 2, "blocks": 1, "seed": 3}
BLANK = [0] * 64


def encoded(image, kind="PNG", **options):
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def noise(width, height, mode="RGB"):
    image = Image.fromarray(np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8))
    return image.convert(mode)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What `mirada train digits` and `mirada train images FOLDER` leave, and a run of another task."""
    place = tmp_path_factory.mktemp("work")
    runs = place / "runs"
    runs.mkdir()
    for label in ("día", "noche"):
        (place / "fotos" / label).mkdir(parents=True)
        for i in range(4):
            noise(19 + i + 4 * (label == "día"), 23).save(place / "fotos" / label / f"{i}.png")
    train("digits", out=runs / "cifras", **TINY)
    train(ImageFolder(place / "fotos", side=32, patch=8), out=runs / "día y noche", **TINY)
    train("copy", out=runs / "copia", steps=2, d_model=6)
    return runs


@pytest.fixture(scope="module")
def lab(runs):
    with served(runs, IDLE) as lab:
        yield lab


def send(lab, data, language="es", **headers):
    """Status and JSON of a picture that is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=60)
    given = {"X-Mirada-Token": TOKEN, "Content-Type": "application/octet-stream"} | headers
    with contextlib.closing(connection):
        connection.request("POST", f"/api/images?lang={language}", data, given)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def look(lab, picture, model="new"):
    return lab.ask(
        "POST", "/api/images/look", {"model": model, "picture": base64.b64encode(picture).decode()}
    )


def test_a_picture_is_opened_and_made_smaller_and_nothing_of_it_is_kept(lab, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = sorted(runs.rglob("*"))
    status, told = send(lab, encoded(noise(1283, 641), "JPEG"))
    assert (status, told["width"], told["height"], told["notes"]) == (200, 1283, 641, [])
    assert Image.open(BytesIO(base64.b64decode(told["picture"]))).size == (640, 320)
    assert sorted(runs.rglob("*")) == before
    assert list(tmp_path.iterdir()) == []


def test_what_was_done_to_it_is_said_in_both_languages(lab):
    turned = noise(31, 17)
    exif = turned.getexif()
    exif[0x0112] = 6
    frames = [noise(13, 11).quantize(), noise(13, 11, "L").quantize()]
    odd = {
        "rotated": encoded(turned, "JPEG", exif=exif),
        "transparent": encoded(Image.new("RGBA", (17, 13), (0, 0, 0, 128))),
        "first_frame": encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "grey": encoded(noise(17, 13, "L")),
        "stretched": encoded(
            Image.fromarray(np.linspace(0, 1, 221, dtype=np.float32).reshape(17, 13)), "TIFF"
        ),
    }
    assert set(odd) == set(NOTES)
    for note, data in odd.items():
        said = [send(lab, data, language)[1]["notes"] for language in ("es", "en")]
        assert len(said[0]) == len(said[1]) >= 1, note
        assert set(said[0]).isdisjoint(said[1])
    assert send(lab, odd["rotated"])[1]["width"] == 17


def bomb():
    """A PNG of a few bytes that says it is 100,000 pixels each way."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0"))
        + chunk(b"IEND", b"")
    )


HOSTILE = {
    "nothing": (b"", 422, "empty"),
    "no picture": (b"%PDF-1.7 and so on", 422, "unknown"),
    "a page": (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", 422, "unknown"),
    "the first half": (encoded(noise(101, 97))[:9000], 422, "broken"),
    "a header alone": (b"\x89PNG\r\n\x1a\n", 422, "unknown"),
    "a bomb": (bomb(), 413, "bomb"),
    "21 megabytes": (encoded(noise(7, 5)) + bytes(20_100_000), 413, "large"),
    "more than the lab reads": (bytes(21 * 2**20), 413, "size"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_picture_is_a_sentence_in_both_languages(lab, what):
    data, status, code = HOSTILE[what]
    said = []
    for language in ("es", "en"):
        answered, told = send(lab, data, language)
        assert (answered, told["error"]["code"]) == (status, code)
        said.append(told["error"]["message"])
    assert said[0] != said[1]
    assert all(20 < len(sentence) < 300 for sentence in said)


@pytest.mark.parametrize("what", [what for what in HOSTILE if len(HOSTILE[what][0]) < 2**20])
def test_nobody_looks_at_what_is_no_picture(lab, what):
    data, status, code = HOSTILE[what]
    answered, told = look(lab, data)
    assert (answered, told["error"]["code"]) == (status, code)


def test_only_pictures_may_be_larger_than_everything_else(lab):
    large = {"model": "new", "picture": "A" * (4 * 2**20)}
    assert lab.ask("POST", "/api/images/look", large)[1]["error"]["code"] == "size"
    assert send(lab, encoded(noise(5, 3)), **{"Content-Type": "application/json"})[0] == 415


def test_the_samples_are_pictures_and_need_no_token(lab):
    for name in ("sample", "flower"):
        connection, answer = Client(lab.port, token="").open("GET", f"/images/{name}.png")
        assert (answer.status, answer.getheader("content-type")) == (200, "image/png")
        assert Image.open(BytesIO(answer.read())).size == (160, 96)
        connection.close()
    for name in ("china", "..%2f..%2fpage", "sample.png"):
        connection, answer = lab.open("GET", f"/images/{name}.png")
        assert answer.status == 404
        connection.close()


def test_every_finished_run_on_pictures_can_look(lab):
    told = lab.get("/api/images/models")
    models = {each["id"]: each for each in told["models"]}
    assert told["digits"] is None
    assert {name: each["kind"] for name, each in models.items()} == {
        "new": "new",
        "cifras": "digits",
        "día y noche": "photos",
    }
    assert models["cifras"]["parameters"] > 100
    assert 0 <= models["cifras"]["score"] <= 1


def test_a_new_model_looks_and_takes_it_for_nothing(lab):
    told = look(lab, encoded(noise(77, 160)))[1]
    assert (told["grid"], told["patch"], told["probabilities"]) == ([10, 4], 16, None)
    count = 41
    assert len(told["tokens"]) == count
    assert [(each["block"], each["head"]) for each in told["scenes"]] == [
        (b, h) for b in range(3) for h in range(4)
    ]
    assert all(len(each["scene"]["query"]) == len(each["scene"]["key"]) == count for each in told["scenes"])


def test_a_run_on_pictures_looks_as_it_learnt_to_read(lab):
    status, told = look(lab, encoded(noise(90, 41, "L")), "día y noche")
    assert (status, told["grid"], told["patch"], told["channels"]) == (200, [4, 4], 8, 3)
    assert Image.open(BytesIO(base64.b64decode(told["pixels"]))).size == (32, 32)
    assert [each["label"] for each in told["probabilities"]] == ["día", "noche"]
    assert sum(each["share"] for each in told["probabilities"]) == pytest.approx(1)


def test_a_digit_is_read_cell_by_cell_as_the_library_reads_it(lab, runs):
    import torch

    from mirada.training.runs import load_run

    run = load_run(runs / "cifras")
    (cells,) = run.task.read("3")
    told = lab.post("/api/images/digit", {"model": "cifras", "cells": cells.flatten().tolist()})
    with torch.no_grad():
        shares = run.model(cells / 16).softmax(-1)[0].tolist()
    assert [each["label"] for each in told["probabilities"]] == list("0123456789")
    assert [each["share"] for each in told["probabilities"]] == pytest.approx(shares, abs=1e-6)
    assert (told["grid"], told["patch"], told["channels"], len(told["tokens"])) == ([4, 4], 2, 1, 17)


BAD = {
    "no object": ("look", [], 422, "body"),
    "no picture": ("look", {"model": "new"}, 422, "body"),
    "more": ("look", {"model": "new", "picture": "", "size": 3}, 422, "body"),
    "no name": ("look", {"model": 3, "picture": ""}, 422, "body"),
    "no text": ("look", {"model": "new", "picture": 3}, 422, "body"),
    "no base64": ("look", {"model": "new", "picture": "é!"}, 422, "body"),
    "nobody": ("look", {"model": "nadie", "picture": ""}, 404, "no_run"),
    "outside": ("look", {"model": "../work", "picture": ""}, 404, "no_run"),
    "one of digits": ("look", {"model": "cifras", "picture": ""}, 422, "no_looker"),
    "one that copies": ("digit", {"model": "copia", "cells": BLANK}, 422, "no_looker"),
    "new digits": ("digit", {"model": "new", "cells": BLANK}, 404, "no_run"),
    "few cells": ("digit", {"model": "cifras", "cells": BLANK[1:]}, 422, "body"),
    "too much ink": ("digit", {"model": "cifras", "cells": [*BLANK[1:], 17]}, 422, "body"),
    "half a dot": ("digit", {"model": "cifras", "cells": [*BLANK[1:], 0.5]}, 422, "body"),
    "yes": ("digit", {"model": "cifras", "cells": [*BLANK[1:], True]}, 422, "body"),
    "options": ("digits", {"steps": 3}, 422, "body"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_asked_is_a_sentence_in_both_languages(lab, what):
    route, body, status, code = BAD[what]
    said = []
    for language in ("es", "en"):
        answered, told = Client(lab.port, language=language).ask("POST", f"/api/images/{route}", body)
        assert (answered, told["error"]["code"]) == (status, code)
        said.append(told["error"]["message"])
    assert said[0] != said[1]


def test_the_model_of_digits_learns_once(tmp_path):
    with served(tmp_path, IDLE) as lab:
        assert lab.get("/api/images/models")["digits"] is None
        first = lab.post("/api/images/digits", {})
        assert (first["task"], first["family"], first["steps"]) == ("digits", "vision", 1320)
        # Whoever asks again meanwhile gets the same: a run like those of the Train page.
        assert lab.post("/api/images/digits", {})["id"] == first["id"]
        assert lab.get("/api/images/models")["digits"] == first["id"]
        assert [run["id"] for run in lab.get("/api/runs")["runs"]] == [first["id"]]
        lab.post(f"/api/runs/{first['id']}/pause", {})
        again = lab.post("/api/images/digits", {})
        assert (again["id"], again["state"]) == (first["id"], "running")


def test_it_is_no_task_of_the_train_page_and_is_not_taught_again_where_it_is_known(lab):
    assert "digits" not in [task["name"] for task in lab.get("/api/tasks")["tasks"]]
    told = lab.post("/api/images/digits", {})
    assert (told["id"], told["state"]) == ("cifras", "finished")
