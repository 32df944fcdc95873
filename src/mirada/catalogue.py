"""Every sentence that Python says to a person, in each language, side by side.

To add a language: its code in LANGUAGES and its line in each entry; the tests name what is missing.
What the page itself says is kept with the page, in frontend/src/catalogue/.
"""

from typing import Literal, get_args

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

TEXTS: dict[str, dict[Language, str]] = {
    "page.title": {
        "es": "¿A quién mira cada palabra? · Mirada",
        "en": "Whom does each word look at? · Mirada",
    },
    "page.description": {
        "es": "Siete palabras se miran entre sí: arrastra sus vectores y verás cómo funciona la atención.",
        "en": "Seven words look at each other: drag their vectors and see how attention works.",
    },
}


def say(key: str, language: Language, /, **values: object) -> str:
    """The sentence `key` in `language`, its placeholders filled with `values`."""
    return TEXTS[key][language].format(**values)


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
