"""A page as one self-contained HTML document: for a file, for the lab, for a notebook's frame.

Everything stands inside: style, script, the picture drawn beforehand, the state. A Content-Security-Policy
allows that script and that style by their hashes and nothing else, so no request can leave the page.
Needs no torch.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from mirada.catalogue import LANGUAGES, Language, say

Host = Literal["file", "lab", "widget"]
# What the build makes: the Words page by itself, and in the lab, which has others; the other ones.
Built = Literal["words", "lab", "train", "images"]

# The keys of a page's title and description.
ABOUT = {
    "words": ("page.title", "page.description"),
    "train": ("page.train_title", "page.train_description"),
    "images": ("page.images_title", "page.images_description"),
}

STATIC = Path(__file__).resolve().parent.parent / "static"

# One word looking at another: ink where the look lands, coral where it starts.
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<rect width='32' height='32' rx='7' fill='#FCFAF5'/>"
    "<g fill='none' stroke-width='5'><path d='M7 23C7 5 25 5 25 23' stroke='#211C17'/>"
    "<path d='M25 23C25 16 22.5 12 19 10.4' stroke='#DB5138'/></g>"
    "<path d='M19 26h12v3H19z' fill='#DB5138'/></svg>"
)


class BundleMissing(RuntimeError):
    """The page's script, style or markup has not been built. `path` is the file that is not there."""

    def __init__(self, path: Path):
        super().__init__(
            f"the page has not been built: {path} is missing; run `make js` in the project's folder, "
            "or install the wheel, which carries it"
        )
        self.path = path


@dataclass(frozen=True)
class Bundle:
    """What the front end's build leaves: one script, one style, and the markup of one language."""

    script: str
    style: str
    markup: str


def read_bundle(language: Language, static: Path | None = None, name: Built = "words") -> Bundle:
    """Read a built page from the folder `static`; None is the package's own.

    Raises:
        BundleMissing: it has not been built; names the first file that is not there.
        ValueError: an unknown language, or a built file that cannot stand inside a page.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    script = read_built(f"{name}.js", static)
    style = read_built(f"{name}.css", static)
    # An end tag inside would close the element early and spill the rest into the page as markup.
    for file, text, end in ((f"{name}.js", script, r"</script|<!--"), (f"{name}.css", style, "</style")):
        if found := re.search(end, text, re.IGNORECASE):
            raise ValueError(
                f"{file} contains {found[0]!r}, which cannot stand inside a page; escape it there"
            )
    return Bundle(script, style, read_built(f"{name}.{language}.html", static))


def read_built(name: str, static: Path | None = None) -> str:
    """One built file as text. Raises BundleMissing where it is missing or empty."""
    path = (static or STATIC) / name
    # Line ends as the HTML parser will see them, or the hashes would not fit.
    text = path.read_text("utf-8").replace("\r\n", "\n").replace("\r", "\n") if path.is_file() else ""
    if not text.strip():
        raise BundleMissing(path)
    return text


def words_page(
    language: Language = "es",
    *,
    state: Mapping[str, Any] | None = None,
    host: Host = "file",
    token: str | None = None,
    static: Path | None = None,
) -> str:
    """The whole document, from the built front end (see `read_bundle`); the rest as in `assemble`.

    Raises:
        BundleMissing: the front end has not been built.
        ValueError: an unknown language, or a state that JSON cannot hold.
    """
    bundle = read_bundle(language, static, "lab" if host == "lab" else "words")
    return assemble(bundle, language, state=state, host=host, token=token)


def assemble(
    bundle: Bundle,
    language: Language,
    *,
    page: Literal["words", "train", "images"] = "words",
    state: Mapping[str, Any] | None = None,
    host: Host = "file",
    token: str | None = None,
    run: str | None = None,
) -> str:
    """The whole document, from a bundle in the same language.

    Args:
        language: of the first picture; the page can switch to the other one by itself.
        page: which one the bundle is of.
        state: a WordsState as a JSON-like mapping; None is the page's own initial state.
        host: where it will stand. Only "lab" may talk to a server, and only to its own.
        token: the lab's token, which the page sends back on each call of the API.
        run: a name for this run of a lab that was started in a language, which comes first: "es-5f3a". That
            language wins over one that the page remembers; one chosen in the page afterwards wins over it.

    Raises:
        ValueError: a state that JSON cannot hold (NaN, infinity).
    """
    root = {"mirada": page, "language": language, "host": host, "token": token, "run": run}
    attributes = " ".join(f'data-{k}="{escape(v)}"' for k, v in root.items() if v is not None)
    data = (
        ""
        if state is None
        else f'<script type="application/json" data-mirada="state">{embed(state)}</script>'
    )
    icon = quote(ICON, safe=" =:/'")
    title, description = ABOUT[page]
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(bundle, host)}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="description" content="{escape(say(description, language))}">\n'
        f"<title>{escape(say(title, language))}</title>\n"
        f'<link rel="icon" href="data:image/svg+xml,{icon}">\n'
        f"<style>{bundle.style}</style>\n</head>\n<body>\n"
        f"<div {attributes}>{bundle.markup}</div>\n{data}<script>{bundle.script}</script>\n"
        "</body>\n</html>\n"
    )


def policy(bundle: Bundle, host: Host) -> str:
    """The Content-Security-Policy under which the page works and nothing else does."""
    return "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src", *scripts(bundle)]),
            f"style-src '{fingerprint(bundle.style)}'",
            # The icon, and the picture on its way to becoming a PNG; the lab's own photographs.
            "img-src data: blob:" + (" 'self'" if host == "lab" else ""),
            *(["connect-src 'self'"] if host == "lab" else []),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def scripts(bundle: Bundle) -> list[str]:
    """The quoted hashes of all that may run: the script that stands in the page, and what it unpacks.

    The build packs the script, so that a teacher's file stays small enough to be mailed, and writes the hash
    of what comes out first of all, as a comment. The browser checks that hash too: packing opens no door.
    """
    packed = re.match(r"/\*(sha256-[\w+/]+=*)\*/", bundle.script)
    return [f"'{each}'" for each in (fingerprint(bundle.script), *(packed.groups() if packed else ()))]


def fingerprint(text: str) -> str:
    """The hash by which a policy knows an inline element (CSP 3, section 6.7.3)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embed(data: Any) -> str:
    """JSON that can stand inside a script element: no text in it can end the element or open a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Also half emoji (lone surrogates), which UTF-8 cannot write, and the line ends of old scripts.
    return re.sub("[<\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
