"""The page's assembly, on a small bundle of its own: what stands inside, what cannot get out."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from mirada.views import page as page_module
from mirada.views.page import BundleMissing, words_page

SCRIPT = "document.title='ñ'\n"
STYLE = "body{color:#211C17}\n"


@pytest.fixture
def static(tmp_path):
    for name in ("words", "lab", "train", "images"):
        (tmp_path / f"{name}.js").write_text(SCRIPT, "utf-8")
        (tmp_path / f"{name}.css").write_text(STYLE, "utf-8")
        (tmp_path / f"{name}.es.html").write_text("<h1>¿A quién mira cada palabra?</h1><p>banco</p>", "utf-8")
        (tmp_path / f"{name}.en.html").write_text("<h1>Whom does each word look at?</h1><p>bank</p>", "utf-8")
    return tmp_path


class Reader(HTMLParser):
    """Collects the elements of a document, each with its attributes and the text at its start."""

    def __init__(self, document):
        super().__init__()
        self.elements = []
        self.inside = False
        self.feed(document)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        self.inside = True

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.elements[-1][2].append(data)

    def all(self, name):
        return [(attributes, "".join(text)) for tag, attributes, text in self.elements if tag == name]

    def meta(self, name):
        return next(a["content"] for a, _ in self.all("meta") if name in (a.get("name"), a.get("http-equiv")))


def sha256(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


@pytest.mark.parametrize(("language", "word"), [("es", "banco"), ("en", "bank")])
def test_the_document_names_its_language_and_carries_everything(static, language, word):
    page = Reader(words_page(language, static=static))
    assert page.all("html")[0][0] == {"lang": language}
    assert page.all("p")[0][1] == word
    assert page.all("div")[0][0] == {"data-mirada": "words", "data-language": language, "data-host": "file"}
    assert page.meta("viewport") == "width=device-width,initial-scale=1"
    assert page.meta("color-scheme") == "light dark"
    assert len(page.meta("description")) > 40
    assert page.all("title")[0][1].endswith("Mirada")
    assert all(a.get("href", "").startswith("data:") for a, _ in page.all("link"))
    assert not any("src" in attributes for _, attributes, _ in page.elements)


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(static):
    page = Reader(words_page("es", static=static))
    policy = dict(rule.split(" ", 1) for rule in page.meta("Content-Security-Policy").split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == sha256(page.all("script")[-1][1]) == sha256(SCRIPT)
    assert policy["style-src"] == sha256(page.all("style")[0][1]) == sha256(STYLE)
    assert policy["img-src"] == "data: blob:"
    assert "connect-src" not in policy
    assert "unsafe" not in str(policy)


def test_the_policy_also_allows_what_a_packed_script_unpacks(static):
    inside = sha256("what comes out").strip("'")
    script = f"/*{inside}*/unpack('...')"
    (static / "words.js").write_text(script)
    policy = Reader(words_page("es", static=static)).meta("Content-Security-Policy")
    assert f"script-src {sha256(script)} '{inside}';" in policy


@pytest.mark.parametrize(
    ("name", "text"),
    [("words.js", "x='</Script><b>'"), ("words.js", "x='<!--'"), ("words.css", "b{content:'</STYLE>'}")],
)
def test_a_build_that_would_end_its_element_is_refused(static, name, text):
    (static / name).write_text(text)
    with pytest.raises(ValueError, match=rf"{name} contains '<"):
        words_page("es", static=static)


def test_only_the_lab_may_talk_and_it_carries_the_token(static):
    page = Reader(words_page("es", host="lab", token='a"b<', static=static))
    assert "connect-src 'self'" in page.meta("Content-Security-Policy")
    assert page.all("div")[0][0]["data-token"] == 'a"b<'


def test_the_lab_has_a_page_that_knows_of_the_others(static):
    (static / "lab.js").write_text("'with others'")
    assert "'with others'" in words_page("es", host="lab", static=static)
    for host in ("file", "widget"):
        assert "'with others'" not in words_page("es", host=host, static=static)


def test_each_page_says_which_it_is(static):
    page = page_module.assemble(
        page_module.read_bundle("en", static, "train"), "en", page="train", host="lab"
    )
    assert Reader(page).all("div")[0][0]["data-mirada"] == "train"
    assert "<title>How does it learn to look?" in page
    assert Reader(words_page("en", static=static)).all("div")[0][0]["data-mirada"] == "words"


def test_line_ends_are_hashed_as_a_browser_reads_them(static):
    (static / "words.js").write_bytes(b"a()\r\nb()\rc()")
    document = words_page("es", static=static)
    assert sha256("a()\nb()\nc()") in document
    assert "\r" not in document


@pytest.mark.parametrize(
    "word",
    ["</script><b>", "</SCRIPT >", "<!--<script>", "\u2028\u2029", "مرحبا", "😀", "\ud83d", 'a"b\\', "a\0b"],
)
def test_hostile_words_stay_text(static, word):
    state = {"words": [word, "banco"]}
    document = words_page("es", state=state, static=static)
    assert "\u2028" not in document
    document.encode()
    scripts = Reader(document).all("script")
    assert [attributes for attributes, _ in scripts] == [
        {"type": "application/json", "data-mirada": "state"},
        {},
    ]
    assert json.loads(scripts[0][1]) == state
    assert "<!--" not in document


def test_a_state_that_json_cannot_hold_is_refused(static):
    with pytest.raises(ValueError, match="JSON"):
        words_page("es", state={"temperature": float("nan")}, static=static)


def test_an_unknown_language_is_refused(static):
    with pytest.raises(ValueError, match=r"es, en.*'fr'"):
        words_page("fr", static=static)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", ["words.js", "words.css", "words.es.html"])
@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_missing_bundle_is_named_and_says_what_to_do(static, name, how):
    (static / name).unlink() if how == "missing" else (static / name).write_text(" \n")
    with pytest.raises(BundleMissing, match=rf"{re.escape(name)}.*make js"):
        words_page("es", static=static)


# The page as it is built and published.


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_built_file_is_small_whole_and_asks_nobody(language):
    document = words_page(language)
    assert len(document.encode()) <= 60_000
    page = Reader(document)
    assert {"es": "banco", "en": "bank"}[language] in document
    assert [script for script, _ in page.all("script")] == [{}]
    for tag, attributes, _ in page.elements:
        # The policy would silence a style or a handler in an attribute, and nothing is fetched from anywhere.
        assert not [
            name for name in attributes if name in ("src", "srcset", "style") or name.startswith("on")
        ]
        assert attributes.get("href", "#")[0] in "#?" or (tag, attributes["href"][:5]) == ("link", "data:")
    assert "@import" not in document
    assert not re.search(r"url\((?!#)", page.all("style")[0][1])


def test_the_built_script_says_the_hash_of_what_it_unpacks():
    names = page_module.scripts(page_module.read_bundle("es"))
    assert len(names) == 2
    policy = Reader(words_page("es")).meta("Content-Security-Policy")
    assert all(name in policy for name in names)
