"""A state is an address, and the address is the state; a broken one gets a sentence and the start."""

import re

import pytest
from playwright.sync_api import expect
from sight import Sight

START = "«banco» mira sobre todo a «plata» (61 %), luego a sí misma (28 %)."


def test_what_was_done_opens_again_from_its_address(open_words, open_page):
    sight = open_words()
    sight.choose("la")
    sight.bars.nth(1).press("Enter")
    sight.causal.press("Space")
    sight.temperature.press("ArrowRight")
    sight.set("query", "la", 1.5, -2)
    sight.set("key", "guardó", 2.5, -2.5)
    sight.set("value", "Ana", -1, 1.1)
    expect(sight.page).to_have_url(
        re.compile(r"#l=es&w=2&p=1&t=1\.1&c=1&q2=1\.5,-2&k1=2\.5,-2\.5&v0=-1,1\.1$")
    )
    again = Sight(open_page(sight.page.url))
    expect(again.word("la")).to_be_checked()
    expect(again.bars.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(again.causal).to_be_checked()
    expect(again.temperature).to_have_attribute("aria-valuetext", "T = 1,1")
    again.handle("query", "la").expect_at(1.5, -2)
    again.handle("key", "guardó").expect_at(2.5, -2.5)
    again.handle("value", "Ana").expect_at(-1, 1.1)
    assert again.shares() == sight.shares()
    assert again.arcs() == sight.arcs()


def test_the_start_needs_no_link(open_words):
    sight = open_words()
    sight.causal.press("Space")
    expect(sight.page).to_have_url(re.compile("#l=es&c=1$"))
    sight.causal.press("Space")
    expect(sight.page).to_have_url(re.compile("words.es.html$"))


def test_a_link_carries_its_language_and_the_other_sentence(open_words):
    sight = Sight(open_words("es", "l=en&s=seat&w=5").page, "en")
    expect(sight.word("bank")).to_be_checked()
    expect(sight.bars).to_have_count(9)
    sight.says("“bank” looks chiefly at “river” (44%), then at “sat” (34%).")


def test_the_link_can_be_copied(open_words):
    sight = open_words(state="l=es&t=2", permissions=["clipboard-read", "clipboard-write"])
    sight.open_more()
    field = sight.page.get_by_label(sight.said("link.label"))
    expect(field).to_have_value(sight.page.url)
    sight.page.get_by_role("button", name=sight.said("link.copy")).click()
    sight.says(sight.said("link.copied"))
    assert sight.page.evaluate("navigator.clipboard.readText()") == sight.page.url
    field.focus()
    assert sight.page.evaluate("String(getSelection())") == sight.page.url


def test_where_the_clipboard_is_closed_the_link_is_selected(open_words):
    sight = open_words()
    sight.open_more()
    sight.page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('closed')); }"
    )
    sight.page.get_by_role("button", name=sight.said("link.copy")).click()
    sight.says(sight.said("link.select"))
    assert sight.page.evaluate("String(getSelection())") == sight.page.url


def test_a_link_typed_into_the_open_page_is_followed(open_words):
    sight = open_words()
    expect(sight.word("banco")).to_be_checked()
    sight.page.evaluate("location.hash = 'l=es&w=0&c=1'")
    sight.says("«Ana» solo puede mirar a sí misma (100 %).")
    sight.page.evaluate("location.hash = ''")
    sight.says(START)


BROKEN = {
    "v=9": ("version", {"got": "9"}),
    "zz=1": ("unknown", {"where": "zz"}),
    "__proto__=1": ("unknown", {"where": "__proto__"}),
    "t=1&t=2": ("repeat", {"where": "t"}),
    "l=fr": ("value", {"where": "l", "got": "fr"}),
    "s=river": ("value", {"where": "s", "got": "river"}),
    "c=yes": ("value", {"where": "c", "got": "yes"}),
    "t=hot": ("number", {"where": "t", "got": "hot"}),
    "t=0": ("range", {"where": "t", "got": "0", "low": "0,1", "high": "10"}),
    "q2=NaN,1": ("number", {"where": "q2", "got": "NaN"}),
    "q2=1": ("number", {"where": "q2", "got": "1"}),
    "k0=9,0": ("range", {"where": "k0", "got": "9", "low": "−2,5", "high": "2,5"}),
    "w=7": ("word", {"where": "w", "got": "7", "high": "6"}),
    "p=-1": ("word", {"where": "p", "got": "-1", "high": "6"}),
    "q7=1,1": ("word", {"where": "q7", "got": "7", "high": "6"}),
    "s=own&o=sola": ("count", {"got": "1"}),
    "s=own&o=" + "+".join("abcdefghijklm"): ("count", {"got": "13"}),
    "q2=%E0%A4%A": ("encoding", {"where": "q2"}),
    "s=own&o=%+b": ("encoding", {"where": "o"}),
    "w=%3Cimg%20src=x%20onerror=window.ran=1%3E": (
        "word",
        {"where": "w", "got": "<img src=x onerror=window.ran=1>", "high": "6"},
    ),
    "l=%3C/script%3E%3Cscript%3Ewindow.ran=1%3C/script%3E": (
        "value",
        {"where": "l", "got": "</script><script>window.ran=1</script>"},
    ),
}


def test_a_broken_link_gets_a_sentence_and_the_start(open_words):
    sight = open_words()
    page, address = sight.page, sight.page.url
    for fragment, (key, filled) in BROKEN.items():
        page.goto("about:blank")
        page.goto(f"{address}#{fragment}")
        expect(page.get_by_role("alert")).to_have_text(
            f"{sight.said('fault.link.' + key, **filled)} {sight.said('link.broken')}"
        )
        sight.says(START)
        assert page.evaluate("[window.ran, document.images.length]") == [None, 0]
        assert page.evaluate("location.hash").startswith("#" + fragment[:2]), "the link is no longer there"


def test_whatever_is_done_next_takes_the_complaint_away(open_words):
    sight = open_words(state="l=es&w=99")
    expect(sight.page.get_by_role("alert")).to_be_visible()
    sight.choose("la")
    expect(sight.page.get_by_role("alert")).to_have_count(0)
    expect(sight.page).to_have_url(re.compile("#l=es&w=2$"))


def test_a_broken_link_typed_into_the_open_page_shows_the_start_as_it_says(open_words):
    sight = open_words(state="l=es&w=2&t=3")
    expect(sight.word("la")).to_be_checked()
    sight.page.evaluate("location.hash = 'w=99'")
    alert = sight.page.get_by_role("alert")
    expect(alert).to_contain_text(sight.said("link.broken"))
    sight.says(START)
    # Once the change has been told to screen readers, the address would long have been written again.
    expect(sight.page.get_by_role("status")).to_contain_text(START)
    expect(sight.page).to_have_url(re.compile("#w=99$"))
    sight.page.evaluate("location.hash = ''")  # mended
    expect(alert).to_have_count(0)


@pytest.mark.parametrize("length", [100_000])
def test_a_very_long_link_is_refused_like_any_other(open_words, length):
    sight = open_words(state="t=" + "1" * length)
    expect(sight.page.get_by_role("alert")).to_be_visible()
    sight.says(START)
    assert sight.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
