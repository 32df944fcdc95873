"""The catalogue of what Python says: complete in every language, and every entry in use."""

import ast
import string
from pathlib import Path

import pytest

import mirada
from mirada.catalogue import LANGUAGES, from_header, from_locale, say, texts

SECTIONS = ("page", "cli", "export", "look", "lab", "problem", "training", "picture", "lesson")
SOURCES = sorted(Path(mirada.__file__).parent.rglob("*.py"))


def placeholders(sentence):
    return sorted(name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_entry_is_missing_or_empty(language):
    assert list(texts(language)) == list(texts("en")), "the same keys, in the same order"
    assert [key for key, sentence in texts(language).items() if not sentence.strip()] == []


@pytest.mark.parametrize("key", texts("en"))
def test_every_language_fills_in_the_same_particulars(key):
    assert {language: placeholders(texts(language)[key]) for language in LANGUAGES} == {
        language: placeholders(texts("en")[key]) for language in LANGUAGES
    }


def asked_for():
    """The keys that the code names: in full, as a Problem's code, or as what `text` looks up in cli.py."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                section, dot, rest = node.value.partition(".")
                if dot and section in SECTIONS and rest.isidentifier():
                    yield node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                words = [
                    a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
                ]
                if node.func.id == "Problem":
                    yield f"problem.{words[0]}"
                elif node.func.id in ("text", "lang"):
                    yield f"cli.{words[0]}" if words else "cli.lang"


def test_every_entry_is_used_and_every_entry_used_is_there():
    assert set(asked_for()) == set(texts("en"))


def test_particulars_are_text_not_templates():
    assert "{size}" in say("export.no_folder", "es", folder="{size}")


@pytest.mark.parametrize(
    ("names", "language"),
    [
        (("es_MX.UTF-8",), "es"),
        (("es",), "es"),
        (("", None, "es-ES"), "es"),
        (("en_GB.UTF-8", "es_ES"), "en"),
        (("C.UTF-8",), "en"),
        (("est_EE",), "en"),
        ((), "en"),
    ],
)
def test_a_locale_names_a_language(names, language):
    assert from_locale(*names) == language


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        ("es", "es"),
        ("en-GB,en;q=0.9,es;q=0.8", "en"),
        ("de-DE,de;q=0.9,es-419;q=0.5,en;q=0.4", "es"),
        ("en;q=0.3, ES;q=0.7", "es"),
        ("en;q=0", None),
        ("en;q=zero,es;q=0.1", "es"),
        ("fr,*;q=0.5", None),
        ("", None),
    ],
)
def test_the_browser_says_which_language_it_likes_best(accept, language):
    assert from_header(accept) == language
