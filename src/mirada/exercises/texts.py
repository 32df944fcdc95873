"""What the exercises say, in the student's language: one JSON file a language, a line an entry.

Keys are the exercise's name and what is said: `row_by_hand.title`, `.question`, `.why` (what one learns from
it), and one for each hint. What all exercises say stands under `verdict`.
"""

import json
import os
from functools import cache
from pathlib import Path

from mirada.catalogue import LANGUAGES, Language, from_locale

_chosen: Language | None = None


@cache
def texts(language: Language) -> dict[str, str]:
    """All entries of one language, by key."""
    return json.loads((Path(__file__).parent / f"{language}.json").read_text("utf-8"))


def say(key: str, language: Language | None = None, /, **values: object) -> str:
    """The entry `key`, its placeholders filled with `values`."""
    return texts(language or current_language())[key].format(**values)


def set_language(language: Language) -> None:
    """From now on questions and verdicts speak "es" or "en". Raises ValueError for others."""
    global _chosen
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}; expected one of {', '.join(LANGUAGES)}")
    _chosen = language


def current_language() -> Language:
    """What `set_language` chose, else MIRADA_LANG, else the locale's."""
    names = ("MIRADA_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    return _chosen or from_locale(*(os.environ.get(name) for name in names))
