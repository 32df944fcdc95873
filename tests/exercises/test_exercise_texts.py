"""What the exercises say: the same in both languages, all of it in use, in the student's language."""

import re
import string
from pathlib import Path

import pytest

from mirada import exercises
from mirada.catalogue import LANGUAGES
from mirada.exercises import ENTRIES, set_language
from mirada.exercises.exercise import Exercise
from mirada.exercises.texts import current_language, say, texts

SOURCES = Path(exercises.__file__).parent
COMMAND = SOURCES.parent / "commands" / "exercises.py"


def placeholders(sentence):
    return sorted(name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_entry_is_missing_or_empty(language):
    assert list(texts(language)) == list(texts("en")), "the same keys, in the same order"
    assert [key for key, text in texts(language).items() if not text.strip()] == []
    for key, text in texts(language).items():
        assert placeholders(text) == placeholders(texts("en")[key]), key
        assert text.count("`") % 2 == 0, key
        assert set(re.findall("`[^`]+`", text)) == set(re.findall("`[^`]+`", texts("en")[key])), key


def test_every_entry_is_used_and_every_entry_used_is_there():
    code = "".join(path.read_text("utf-8") for path in [*SOURCES.glob("*.py"), COMMAND])
    used = set(re.findall(r"[\"']((?:verdict|exercise|command)\.\w+)[\"']", code))
    used |= {f"command.{key}" for key in re.findall(r'told\("(\w+)"\)', code)}
    used |= {f"verdict.{status}" for status in ("pending", "correct", "not_yet", "failed")}
    for name in ENTRIES:
        used |= {f"{name}.{part}" for part in ("title", "question", "why")}
        used |= {f"{name}.{hint}" for hint in getattr(getattr(exercises, name), "mistakes", ())}
        book = (SOURCES / "book" / f"{name}.py").read_text("utf-8")
        used |= {f"{name}.{hint}" for hint in re.findall(r'not_yet\("(\w+)"', book)}
        used |= set(re.findall(rf'Odd\("({name}\.\w+)"', book))
    used |= {"sort_instead.digits", "sort_instead.not_places"}
    assert used == set(texts("en"))


def test_every_exercise_has_a_file_and_every_file_is_one():
    assert {path.stem for path in (SOURCES / "book").glob("*.py")} - {"__init__"} == set(ENTRIES)
    for name in ENTRIES:
        assert isinstance(getattr(exercises, name), Exercise)
        assert getattr(exercises, name).name == name
    assert set(ENTRIES) <= set(dir(exercises))
    with pytest.raises(AttributeError, match="row_by_foot"):
        exercises.row_by_foot  # noqa: B018


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "es_MX.UTF-8"}, "es"),
        ({"LANG": "es_MX.UTF-8", "MIRADA_LANG": "en"}, "en"),
        ({"LANG": "en_GB", "MIRADA_LANG": "es"}, "es"),
    ],
)
def test_the_language_is_the_students(monkeypatch, environment, language):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert current_language() == language
    assert exercises.sqrt_d.check(3).title == say("verdict.not_yet", language)


def test_a_language_can_be_chosen_and_what_was_said_changes_with_it():
    verdict = exercises.sqrt_d.check([16, 64, 400])
    assert repr(verdict).startswith("Not yet. That is the variance")
    set_language("es")
    assert repr(verdict).startswith("Todavía no. Esa es la varianza")
    assert "desviación estándar" in repr(exercises.sqrt_d)
    with pytest.raises(ValueError, match="'fr'; expected one of es, en"):
        set_language("fr")
