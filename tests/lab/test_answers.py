"""What the guard adds to every answer, and what it says where it refuses or something fails."""

import json

import pytest
from asking import TOKEN, ask

from mirada.lab.guard import HARDENING

TOKENED = [("x-mirada-token", TOKEN)]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", []),
        ("/", [("host", "evil.example")]),
        ("/api/about", []),
        ("/fail", []),
        ("/api/about", TOKENED),
    ],
)
def test_every_answer_is_hardened(path, headers, capsys):
    answered = ask(path, headers=headers)[1]
    for name, value in HARDENING.items():
        if name != "Content-Security-Policy":
            assert answered[name.lower()] == value
    assert "default-src 'none'" in answered["content-security-policy"]
    assert "frame-ancestors 'none'" in answered["content-security-policy"]
    assert not any(name.startswith("access-control") for name in answered)


@pytest.mark.parametrize("path", ["/", "/fail", "/api/about"])
def test_head_is_get_without_the_body(path, capsys):
    got, asked_head = ask(path, "GET"), ask(path, "HEAD")
    assert asked_head[:2] == got[:2]
    assert got[2] != b""
    assert asked_head[2] == b""


def test_what_fails_inside_is_a_sentence_outside_and_a_line_in_the_terminal(capsys):
    status, headers, body, _ = ask("/fail")
    assert status == 500
    assert headers["content-type"].startswith("text/html")
    assert "on purpose" not in body.decode()
    said = capsys.readouterr().err
    assert "RuntimeError: on purpose" in said
    assert "Traceback" not in said


def test_details_are_shown_to_whoever_asks_for_them(capsys, monkeypatch):
    monkeypatch.setenv("MIRADA_DEBUG", "1")
    ask("/fail")
    assert "Traceback" in capsys.readouterr().err


def test_half_an_answer_is_cut_off_rather_than_continued(capsys):
    with pytest.raises(RuntimeError, match="on purpose"):
        ask("/fail-late")


@pytest.mark.parametrize(
    ("query", "accept", "started_in", "word"),
    [
        (b"", "", None, "Falta"),
        (b"", "en-GB,en", None, "missing"),
        (b"lang=es", "en", None, "Falta"),
        (b"", "es", "en", "missing"),
        (b"lang=es", "en", "en", "Falta"),
        (b"lang=fr", "en", None, "missing"),
    ],
)
def test_refusals_speak_the_language_asked_for(query, accept, started_in, word):
    headers = [("accept-language", accept)]
    body = ask("/api/about", headers=headers, scope={"query_string": query}, language=started_in)[2]
    assert word in json.loads(body)["error"]["message"]
