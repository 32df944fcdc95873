"""`mirada lesson`: opens what was built, writes notebooks where nothing was, and never over anything."""

import json
import webbrowser

import pytest

from mirada.cli import run
from mirada.lesson import chapters as lesson
from mirada.lesson.chapters import chapters
from mirada.lesson.notebook import notebook


@pytest.fixture
def nothing_built(monkeypatch, tmp_path):
    """As where Mirada was installed from a wheel: no site, and a folder of one's own."""
    monkeypatch.setattr(lesson, "site", lambda language: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("language", "folder"), [("en", "mirada-lesson"), ("es", "leccion-mirada")])
def test_it_writes_every_chapter_and_says_how_to_start(nothing_built, capsys, language, folder):
    assert run(["--lang", language, "lesson"]) == 0
    said = capsys.readouterr().out
    assert f"jupyter lab {folder}" in said
    files = {path.name: path.read_text("utf-8") for path in (nothing_built / folder).iterdir()}
    assert files == {f"{each.name}.ipynb": notebook(each) for each in chapters(language)}
    assert all(json.loads(text)["nbformat"] == 4 for text in files.values())


def test_what_somebody_has_changed_stays_and_what_is_missing_comes_back(nothing_built, capsys):
    assert run(["lesson", "--lang", "en", "--notebooks", "mine"]) == 0
    first, second = sorted((nothing_built / "mine").iterdir())[:2]
    first.write_text("my own notes")
    second.unlink()
    capsys.readouterr()
    assert run(["lesson", "--lang", "en", "--notebooks", "mine"]) == 0
    assert first.read_text() == "my own notes"
    assert second.exists()
    said = capsys.readouterr().out
    assert first.name in said
    assert second.name not in said


def test_a_folder_that_cannot_be_is_a_sentence(nothing_built, capsys):
    (nothing_built / "a file").write_text("")
    assert run(["--lang", "en", "lesson", "--notebooks", "a file"]) == 1
    assert "another folder" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--no-browser"]])
def test_the_pages_are_opened_where_they_were_built(monkeypatch, tmp_path, capsys, options):
    page = tmp_path / "build/site/es/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("")
    (tmp_path / "lesson/es").mkdir(parents=True)
    monkeypatch.setattr(lesson, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.delenv("MIRADA_LAB_BROWSER", raising=False)
    assert run(["--lang", "es", "lesson", *options]) == 0
    assert str(page) in capsys.readouterr().out
    assert opened == ([] if options else [page.as_uri()])
    assert not (tmp_path / "leccion-mirada").exists()
