"""What a student has solved is kept, quietly, and nothing that goes wrong with it hurts."""

import json
import sys
from pathlib import Path

import pytest

from mirada import exercises
from mirada.exercises import progress

RIGHT = [4, 8, 20]


def test_what_is_solved_is_kept_and_stays_solved(tmp_path):
    assert progress.solved() == set()
    exercises.sqrt_d.check(None)
    exercises.sqrt_d.check([16, 64, 400])
    assert not (tmp_path / "home").exists(), "nothing is written until something is solved"
    exercises.sqrt_d.check(RIGHT)
    exercises.sqrt_d.check([16, 64, 400])
    exercises.row_by_hand.check([0.02, 0.32, 0.66])
    assert progress.solved() == {"sqrt_d", "row_by_hand"}
    kept = json.loads((tmp_path / "home/exercises.json").read_text())
    assert kept == {"solved": ["row_by_hand", "sqrt_d"]}


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", "3", '{"solved": 3}', '{"solved": [1, null, "nobody"]}', "\x00"]
)
def test_a_broken_file_counts_as_nothing_and_is_mended_by_the_next_answer(tmp_path, broken):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/exercises.json").write_text(broken)
    assert progress.solved() == set()
    assert exercises.sqrt_d.check(RIGHT)
    assert progress.solved() == {"sqrt_d"}


def test_a_folder_that_cannot_be_written_hurts_nobody(tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    assert exercises.sqrt_d.check(RIGHT)
    assert progress.solved() == set()


def test_a_folder_in_the_place_of_the_file_hurts_nobody(tmp_path):
    (tmp_path / "home/exercises.json").mkdir(parents=True)
    assert exercises.sqrt_d.check(RIGHT)
    assert progress.solved() == set()


def test_without_a_home_nothing_is_kept(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("MIRADA_HOME")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr(sys, "platform", "linux")
    assert progress.solved() == set()
    assert exercises.sqrt_d.check(RIGHT)


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {}, "/home/ana/.local/share/mirada"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/mirada"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "/home/ana/Library/Application Support/mirada"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/mirada"),
        ("win32", {}, "/home/ana/AppData/Roaming/mirada"),
        ("linux", {"MIRADA_HOME": "/own"}, "/own"),
    ],
)
def test_the_folder_is_where_the_system_keeps_such_things(monkeypatch, platform, environment, place):
    for name in ("MIRADA_HOME", "XDG_DATA_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ana"))
    monkeypatch.setattr(sys, "platform", platform)
    assert progress.home() == Path(place)
