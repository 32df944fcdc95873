"""What the lab answers when it cannot do what was asked: a sentence, never a traceback or a blank page."""

from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response

from mirada.catalogue import LANGUAGES, Language, from_header, say
from mirada.views.page import fingerprint

STYLE = (
    ":root{color-scheme:light dark}"
    "body{margin:12vh auto;max-width:34em;padding:0 20px;font:18px/28px Charter,Georgia,serif;"
    "background:light-dark(#FCFAF5,#171411);color:light-dark(#211C17,#EEE7DB)}"
    "a{color:light-dark(#B93A23,#FF8F72)}[lang=en]{color:light-dark(#5A5248,#B8AEA0)}"
)


class Problem(Exception):
    """A request that is answered with a sentence of the catalogue, `problem.<code>`, filled with `values`.

    `detail` is what the library itself said (in English), for whoever wrote the request by hand.
    """

    def __init__(
        self,
        status: int,
        code: str,
        values: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        detail: str | None = None,
    ):
        super().__init__(code)
        self.status = status
        self.code = code
        self.values = values or {}
        self.headers = headers or {}
        self.detail = detail
        self.key = f"problem.{code}"

    @classmethod
    def with_sentence(cls, status: int, key: str, values: Mapping[str, object]) -> "Problem":
        """One that says any sentence of the catalogue, such as those of training."""
        problem = cls(status, key.rpartition(".")[2], values)
        problem.key = key
        return problem


def is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def asked_language(scope: Mapping, default: Language | None = None) -> Language:
    """The language of an answer: ?lang=, else the lab's own, else the browser's, else Spanish."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    for language in LANGUAGES:
        if query.get("lang", [""])[-1] == language:
            return language
    return default or from_header(Headers(raw=scope["headers"]).get("accept-language", "")) or "es"


def answer(problem: Problem, scope: Mapping, default: Language | None = None) -> Response:
    """JSON in the language asked for under /api; elsewhere a small page that says it in every language."""
    if is_api(scope["path"]):
        message = say(problem.key, asked_language(scope, default), **problem.values)
        error = {"code": problem.code, "message": message}
        if problem.detail is not None:
            error["detail"] = problem.detail
        return JSONResponse({"error": error}, problem.status, dict(problem.headers))
    first = asked_language(scope, default)
    languages = sorted(LANGUAGES, key=lambda language: language != first)
    sentences = "".join(
        f'<p lang="{language}">{escape(say(problem.key, language, **problem.values))}</p>\n'
        for language in languages
    )
    html = (
        f'<!doctype html>\n<html lang="{first}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{problem.status} · Mirada</title>\n<style>{STYLE}</style>\n{sentences}"
        '<p><a href="/">Mirada</a></p>\n</html>\n'
    )
    policy = f"default-src 'none'; style-src '{fingerprint(STYLE)}'; frame-ancestors 'none'"
    return HTMLResponse(html, problem.status, {**problem.headers, "Content-Security-Policy": policy})
