"""Spanish and English: chosen by the browser, switched by hand, remembered; none of the other is left."""

import re

import pytest
from playwright.sync_api import expect
from sight import NARROW, TEXTS, Sight

OTHER = {"es": "en", "en": "es"}
ALL_WORDS = """() => {
    const root = document.querySelector('[data-mirada="words"]'), names = [];
    for (const e of root.querySelectorAll('*'))
        for (const a of ['aria-label', 'aria-valuetext', 'title', 'placeholder', 'alt'])
            if (e.hasAttribute(a)) names.push(e.getAttribute(a));
    return [document.title, root.textContent, ...names].join('\\n');
}"""


def switch(sight: Sight) -> Sight:
    sight.page.get_by_role("link", name=sight.said("switch"), exact=True).click()
    return Sight(sight.page, OTHER[sight.language])


@pytest.mark.parametrize(
    ("locale", "language"), [("es-MX", "es"), ("en-GB", "en"), ("fr-FR", "es")], ids=["es", "en", "neither"]
)
def test_the_lab_speaks_the_language_of_the_browser(open_page, lab, locale, language):
    sight = Sight(open_page(lab, locale=locale), language)
    expect(sight.page.get_by_role("heading", level=1)).to_have_text(sight.said("title"))
    expect(sight.page.locator("html")).to_have_attribute("lang", language)


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_file_speaks_the_language_it_was_exported_in(open_words, language):
    sight = open_words(language, locale="fr-FR")
    expect(sight.page.get_by_role("heading", level=1)).to_have_text(sight.said("title"))
    expect(sight.page.locator("html")).to_have_attribute("lang", language)
    expect(sight.page).to_have_title(f"{sight.said('title')} · Mirada")


def test_a_switch_is_remembered_and_can_be_taken_back(open_words):
    spanish = open_words()
    english = switch(spanish)
    expect(english.page.locator("html")).to_have_attribute("lang", "en")
    expect(english.page).to_have_title("Whom does each word look at? · Mirada")
    english.says("“bank” looks chiefly at “money” (61%), then at itself (28%).")
    english.page.reload()
    english.says("“bank” looks chiefly at “money” (61%), then at itself (28%).")
    switch(english)
    spanish.says("«banco» mira sobre todo a «plata» (61 %), luego a sí misma (28 %).")
    spanish.page.reload()
    spanish.says("«banco» mira sobre todo a «plata» (61 %), luego a sí misma (28 %).")


def test_the_address_can_ask_for_a_language(open_page, lab):
    english = Sight(open_page(lab + "/?lang=en"), "en")
    expect(english.page.get_by_role("heading", level=1)).to_have_text(english.said("title"))


def test_the_language_a_lab_is_started_in_wins_over_one_remembered_from_before(open_page, start_lab):
    address = start_lab("--lang", "es")
    # From a run before, at the same port.
    memory = [{"name": "mirada.language", "value": "en"}, {"name": "mirada.run", "value": "en-1a2b3c4d"}]
    before = {"cookies": [], "origins": [{"origin": address, "localStorage": memory}]}
    spanish = Sight(open_page(address, locale="en-US", storage_state=before))
    expect(spanish.page.get_by_role("heading", level=1)).to_have_text(spanish.said("title"))
    english = switch(spanish)
    for _ in range(2):
        expect(english.page.get_by_role("heading", level=1)).to_have_text(english.said("title"))
        english.page.goto(address)


@pytest.mark.parametrize(("locale", "told"), [("es-ES", 1), ("es", 1), ("es-AR", 0), ("es-419", 0)])
def test_spain_is_told_what_plata_is(open_words, locale, told):
    sight = open_words(locale=locale)
    gloss = sight.main.get_by_text(sight.said("gloss"))
    expect(sight.main.get_by_text(sight.said("hint"))).to_be_visible()
    expect(gloss).to_have_count(told)
    sight.take("Ana se sentó en el banco de la plaza")
    expect(gloss).to_have_count(0)


def test_a_switch_keeps_what_was_done(open_words):
    spanish = open_words(state="l=es&s=seat&w=2&t=2&c=1&q2=1,1")
    expect(spanish.word("sentó")).to_be_checked()
    english = switch(spanish)
    expect(english.word("sat")).to_be_checked()  # it stands at another place there
    expect(english.word("sat")).to_have_count(1)
    english.handle("query", "sat").expect_at(1, 1)
    expect(english.causal).to_be_checked()
    expect(english.temperature).to_have_attribute("aria-valuetext", "T = 2")


def test_an_own_sentence_stays_as_it_is(open_words):
    spanish = open_words(state="l=es&s=own&o=una+frase")
    english = switch(spanish)
    english.says("“frase” looks")
    expect(english.bars).to_have_count(2)


@pytest.mark.parametrize("language", ["es", "en"])
def test_numbers_are_written_as_the_language_writes_them(open_words, language):
    sight = open_words(language, f"l={language}&p=0&t=0.5")
    expect(sight.bars).to_have_count(7)
    percent = {"es": re.compile(f"<?\\d+{NARROW}%"), "en": re.compile(r"<?\d+%")}[language]
    for text in sight.bars.all_text_contents():
        assert percent.fullmatch(text), text
    table = sight.sum.text_content() or ""
    assert {"es": "−2,26 / 0,71", "en": "−2.26 / 0.71"}[language] in table
    assert {"es": "0,9\u00a0·\u00a0(−2,3)", "en": "0.9\u00a0·\u00a0(−2.3)"}[language] in table
    assert not re.search({"es": r"\d\.\d", "en": r"\d,\d"}[language], sight.page.inner_text("main"))
    assert not re.search(r"(?<![\w‑])-\d", sight.page.inner_text("main"))  # a minus sign, not a hyphen


@pytest.mark.parametrize("language", ["es", "en"])
def test_nothing_is_left_of_the_other_language(open_words, language):
    """Also behind what is closed, in names that only screen readers meet, and in cards that are done."""
    sight = switch(open_words(OTHER[language]))
    expect(sight.page.get_by_role("heading", level=1)).to_have_text(sight.said("title"))
    sight.open_more()
    sight.look_at("")
    sight.causal.press("Space")
    for task in range(1, 7):
        sight.card(task).get_by_role("button").first.click()
    sight.temperature.press("Home")
    sight.temperature.press("End")
    sight.take(
        {"es": "Ana se sentó en el banco de la plaza", "en": "Ana sat down on the bank of the river"}[
            language
        ]
    )
    text = sight.page.evaluate(ALL_WORDS)
    ours, theirs = TEXTS[language], TEXTS[OTHER[language]]
    left = [
        piece.strip()
        for key, template in theirs.items()
        if key not in ("switch", "counts")  # the link to the other language is written in it
        for piece in re.split(r"\{\w+\}", template.replace("*", ""))
        if len(piece.strip()) > 5 and piece.strip() not in ours[key] and piece.strip() in text
    ]
    assert left == []
    assert ours["values"] in text
    words = {
        "es": ["bank", "river", "kept", "money", "sat"],
        "en": ["banco", "plaza", "guardó", "plata", "sentó"],
    }
    assert [word for word in words[language] if re.search(rf"\b{word}\b", text)] == []
