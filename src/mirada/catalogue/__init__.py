"""Every sentence that Python says to a person: one JSON file a language, a line an entry.

To add an entry: its line in each file, under the same key, with the same {placeholders}; to add a language:
its file and its code in LANGUAGES. The tests name what is missing. What the page itself says is kept with the
page, in frontend/src/catalogue/.
"""

import json
from functools import cache
from pathlib import Path
from typing import Literal, get_args

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@cache
def texts(language: Language) -> dict[str, str]:
    """All entries of one language, by key."""
    return json.loads((Path(__file__).parent / f"{language}.json").read_text("utf-8"))


def say(key: str, language: Language, /, **values: object) -> str:
    """The sentence `key` in `language`, its placeholders filled with `values`."""
    return texts(language)[key].format(**values)


def from_locale(*names: str | None) -> Language:
    """The language of the first locale name that is set: "es_MX.UTF-8" gives "es", all others "en"."""
    first = next((name for name in names if name), "")
    code = first.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    for language in LANGUAGES:
        if language == code:
            return language
    return "en"


def from_header(accept: str) -> Language | None:
    """The language of ours that an Accept-Language header likes best; None where it likes none of them."""
    best: tuple[float, Language | None] = (0.0, None)
    for part in accept.split(","):
        tag, _, parameter = part.partition(";")
        quality = parameter.strip().removeprefix("q=")
        try:
            weight = float(quality) if parameter else 1.0
        except ValueError:
            continue
        code = tag.strip().partition("-")[0].lower()
        for language in LANGUAGES:
            if code == language and weight > best[0]:
                best = (weight, language)
    return best[1]
