"""What the lab serves, and how it says no."""

import json
import re

import pytest

from mirada import __version__
from mirada.lab.routes import MOST_NUMBERS, MOST_TOKENS
from mirada.views.page import words_page
from mirada.views.scene import Scene
from mirada.views.words import start

SCENE = start("money", "es").to_scene()


@pytest.mark.parametrize("path", ["/", "/words", "/words?state=anything"])
def test_the_page_is_the_words_page_with_this_runs_token(lab, path):
    answer = lab().get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text == words_page("es", host="lab", token="seven-words-look")


def test_the_train_page_has_a_title_and_the_token_of_its_own(lab):
    answer = lab().get("/train?lang=en")
    assert (answer.status_code, answer.headers["content-language"]) == (200, "en")
    assert "<title>How does it learn to look? · Mirada</title>" in answer.text
    assert 'data-mirada="train"' in answer.text
    assert "seven-words-look" in answer.text


@pytest.mark.parametrize("path", ["/", "/train", "/images"])
def test_header_and_document_allow_the_same(lab, path):
    answer = lab().get(path)
    inside = re.search('Content-Security-Policy" content="([^"]*)"', answer.text)
    assert inside
    assert answer.headers["content-security-policy"] == f"{inside[1]}; frame-ancestors 'none'"


@pytest.mark.parametrize(("started_in", "asked"), [("es", "en"), ("en", "es"), (None, "en")])
def test_a_lab_started_in_a_language_names_that_and_its_run_to_the_page(lab, started_in, asked):
    def run_of(lab):
        return re.findall(r'data-run="(\w\w)-(\w{8})"', lab.get(f"/?lang={asked}").text)

    one, two = lab(started_in), lab(started_in)
    assert [language for language, _ in run_of(one)] == ([started_in] if started_in else [])
    assert run_of(one) == run_of(one)
    assert (run_of(one) == run_of(two)) == (started_in is None)


@pytest.mark.parametrize(
    ("path", "started_in", "accept", "language"),
    [
        ("/", None, "es", "es"),
        ("/", None, "en-US,en;q=0.9", "en"),
        ("/", None, "fr", "es"),
        ("/", None, "", "es"),
        ("/", "en", "es", "en"),
        ("/?lang=es", "en", "en", "es"),
        ("/?lang=en", None, "es", "en"),
        ("/?lang=fr", None, "en", "en"),
    ],
)
def test_address_then_lab_then_browser_choose_the_language(lab, path, started_in, accept, language):
    answer = lab(started_in, accept).get(path)
    assert f'<html lang="{language}">' in answer.text
    assert answer.headers["content-language"] == language


@pytest.mark.parametrize(
    ("lang", "name", "word"), [("es", "palabras.html", "banco"), ("en", "words.html", "bank")]
)
def test_the_page_can_be_taken_along_as_a_file_without_the_token(lab, lang, name, word):
    answer = lab().get(f"/export/words.html?lang={lang}")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.text == words_page(lang)
    assert word in answer.text
    assert "seven-words-look" not in answer.text


def test_the_icon_comes_from_here(lab):
    answer = lab().get("/favicon.ico")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text.startswith("<svg")


@pytest.mark.parametrize(
    "path", ["/", "/words", "/train", "/export/words.html", "/favicon.ico", "/api/about"]
)
def test_head_answers_like_get(lab, path):
    got, head = lab().get(path), lab().head(path)
    assert head.status_code == 200
    assert head.headers["content-length"] == got.headers["content-length"] != "0"
    assert head.content == b""


@pytest.mark.parametrize("path", ["/nada", "/words/", "/docs", "/redoc", "/openapi.json", "/static/words.js"])
def test_what_is_not_there_is_a_sentence_in_both_languages(lab, path):
    answer = lab().get(path)
    assert answer.status_code == 404
    assert '<p lang="es">Esta página no existe.</p>\n<p lang="en">There is no such page.</p>' in answer.text
    assert "style-src 'sha256-" in answer.headers["content-security-policy"]


def test_the_first_sentence_is_in_the_readers_language(lab):
    assert lab(accept="en").get("/nada").text.index("There is") < lab(accept="en").get("/nada").text.index(
        "Esta"
    )


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/", "GET, HEAD"),
        ("DELETE", "/api/about", "GET, HEAD"),
        ("GET", "/api/scene/weights", "POST"),
    ],
)
def test_another_method_is_refused_and_says_which_would_do(lab, method, path, allowed):
    answer = lab().request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
    assert allowed in answer.text


def test_about_says_what_runs(lab):
    about = lab().get("/api/about").json()
    assert about["name"] == "mirada"
    assert about["version"] == __version__
    assert re.match(r"\d+\.\d+", about["torch"])
    assert about["pages"] == ["words", "train", "images"]
    assert about["languages"] == ["es", "en"]


def test_the_library_computes_a_scene(lab):
    answer = lab().post("/api/scene/weights", json=SCENE)
    assert answer.status_code == 200
    computed = answer.json()
    assert [round(100 * w) for w in computed["weights"][6]][3] == 61
    assert computed["weights"] == Scene.from_dict(SCENE).weights().tolist()
    assert computed["output"] == Scene.from_dict(SCENE).output().tolist()
    assert 0 <= computed["largest_row_sum_deviation"] < 1e-15


def test_a_row_that_may_look_at_nobody_sums_to_0_without_deviating(lab):
    scene = {
        "version": 1,
        "rows": ["a", "b", "c"],
        "columns": ["d", "e"],
        "query": [[1, 2, 3, 4, 5]] * 3,
        "key": [[5, 4, 3, 2, 1]] * 2,
        "masks": [{"kind": "causal"}],
    }
    computed = lab().post("/api/scene/weights", json=scene).json()
    assert computed == {
        "weights": [[0, 0], [1, 0], [0.5, 0.5]],
        "output": None,
        "largest_row_sum_deviation": 0,
    }


def test_the_largest_numbers_that_a_scene_may_hold_give_finite_ones(lab):
    scene = {
        "version": 1,
        "rows": ["a"],
        "columns": ["b", "c"],
        "query": [[1e60] * 7],
        "key": [[1e60] * 7, [-1e60] * 7],
        "value": [[1e60], [-1e60]],
        "scale": 1e60,
        "temperature": 1e-59,
    }
    computed = lab().post("/api/scene/weights", json=scene).json()
    assert computed["weights"] == [[1, 0]]
    assert computed["output"] == [[1e60]]


BAD = {
    "not JSON": (400, "json", b"{"),
    "NaN": (400, "json", json.dumps({**SCENE, "temperature": float("nan")}).encode()),
    "infinity": (400, "json", json.dumps({**SCENE, "scale": float("inf")}).encode()),
    "not UTF-8": (400, "json", json.dumps(SCENE).encode("utf-16")),
    "too deep": (400, "json", b"[" * 100_000),
    "too many digits": (400, "json", b"1" * 5000),
    "empty": (400, "json", b""),
    "a list": (422, "scene", b"[]"),
    "null": (422, "scene", b"null"),
    "too few queries": (422, "scene", json.dumps({**SCENE, "query": SCENE["query"][1:]}).encode()),
    "temperature 0": (422, "scene", json.dumps({**SCENE, "temperature": 0}).encode()),
    "overflow": (422, "scene", json.dumps(SCENE).replace("1.9", "1e400").encode()),
    "half a character": (
        422,
        "scene",
        b'{"\\ud800": 1, "version": 1, "rows": [], "columns": [], "query": [], "key": []}',
    ),
    "too many words": (
        413,
        "scene_size",
        json.dumps(
            {
                "version": 1,
                "rows": ["a"],
                "columns": ["b"] * (MOST_TOKENS + 1),
                "query": [[1]],
                "key": [[1]] * (MOST_TOKENS + 1),
            }
        ).encode(),
    ),
    "too wide": (
        413,
        "scene_size",
        json.dumps(
            {
                "version": 1,
                "rows": ["a"],
                "columns": ["b"],
                "query": [[1] * (MOST_NUMBERS + 1)],
                "key": [[1] * (MOST_NUMBERS + 1)],
            }
        ).encode(),
    ),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize(("accept", "word"), [("es", "que"), ("en", "that")])
def test_a_bad_scene_is_refused_with_a_sentence(lab, what, accept, word):
    status, code, body = BAD[what]
    headers = {"content-type": "application/json"}
    answer = lab(accept=accept).post("/api/scene/weights", content=body, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert len(error["message"]) > 20
    if code != "scene_size":
        assert len(error["detail"]) > 10


def test_the_librarys_own_words_say_what_was_wrong_and_are_cut_short(lab):
    scene = {**SCENE, "key": SCENE["key"][:-1]}
    assert lab().post("/api/scene/weights", json=scene).json()["error"]["detail"] == (
        "key has 6 entries; expected 7"
    )
    answer = lab().post("/api/scene/weights", json={**SCENE, "x" * 10_007: 1})
    assert len(answer.json()["error"]["detail"]) == 500


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
def test_only_json_is_read(lab, kind):
    answer = lab().post("/api/scene/weights", content=json.dumps(SCENE), headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "type")
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert lab().post("/api/scene/weights", content=json.dumps(SCENE), headers=headers).status_code == 200


@pytest.mark.parametrize("query", ["lang=fr", "lang=", "lang=es&lang=fr", "lang=es&x", "Lang=es"])
def test_the_api_takes_a_language_and_nothing_else_in_its_address(lab, query):
    assert lab().get("/api/about?lang=es").status_code == 200
    answer = lab().get(f"/api/about?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "query")


def test_an_unbuilt_page_is_a_sentence_and_not_a_blank_one(lab, static):
    opened = lab()
    for path, name in (("/", "lab.css"), ("/train", "train.css"), ("/export/words.html", "words.css")):
        (static / name).unlink()
        answer = opened.get(path)
        assert answer.status_code == 500
        assert "make js" in answer.text
        assert name in answer.text


def test_a_fault_of_ours_is_a_sentence(lab, monkeypatch, capsys):
    monkeypatch.setattr(Scene, "weights", lambda _: 1 / 0)
    answer = lab().post("/api/scene/weights", json=SCENE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "ZeroDivisionError" in capsys.readouterr().err
