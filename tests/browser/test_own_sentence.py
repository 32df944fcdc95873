"""A sentence of one's own: 2 to 12 words, whatever they are, shown as text exactly."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect
from sight import Sight

HOSTILE = [
    "</script><b>x</b>",
    "<img/src=x/onerror=window.ran=1>",
    "مرحبا",
    "👩‍👩‍👧‍👦👍🏽",  # several code points to a picture, held together by zero-width joiners
    "a\u200db",
    "w" * 300,
    "{word}*stars*",
    "=1+1",
    "%E2%9C%93&#43;",
    "</bdi>\"'",
]


def shown(sight: Sight) -> list[str]:
    return sight.words.get_by_role("radio").evaluate_all(
        "all => all.map(i => i.closest('label').textContent)"
    )


def sideways(sight: Sight) -> int:
    """How many pixels the page could be scrolled to the right."""
    return sight.page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.fixture
def sight(open_words) -> Sight:
    sight = open_words()
    sight.open_more()
    return sight


@pytest.mark.parametrize("count", [2, 12])
def test_from_2_to_12_words(sight, count):
    words = [f"w{i}" for i in range(count)]
    sight.look_at("  " + " \t ".join(words) + " ")
    expect(sight.bars).to_have_count(count)
    assert shown(sight) == words
    assert sum(share or 0 for share in sight.shares()) == 100
    expect(sight.word(words[-1])).to_be_checked()
    expect(sight.page.get_by_role("radio", name=" ".join(words), exact=True)).to_be_checked()
    for word in words:
        expect(sight.handle("key", word).group).to_be_visible()


@pytest.mark.parametrize(
    ("typed", "key"),
    [("", "empty"), ("   \u200b ", "empty"), ("sola", "one"), (" ".join("abcdefghijklm"), "many")],
)
def test_what_does_not_fit_gets_a_sentence_and_stays_as_typed(sight, typed, key):
    sight.look_at(typed)
    alert = sight.page.get_by_role("alert")
    expect(alert).to_have_text(sight.said("fault.own." + key, got=13, want=12))
    field = sight.page.get_by_label(sight.said("own.label"))
    expect(field).to_have_value(typed)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(sight.said("fault.own." + key, got=13, want=12))
    sight.says("«banco» mira sobre todo a «plata» (61 %)")
    sight.look_at("ya está")  # and then it works
    expect(alert).to_have_count(0)
    assert shown(sight) == ["ya", "está"]


def test_the_enter_key_will_do(sight):
    field = sight.page.get_by_label(sight.said("own.label"))
    field.fill("el que calla otorga")
    field.press("Enter")
    expect(sight.bars).to_have_count(4)


def test_the_same_word_twice(sight):
    sight.look_at("ser o no ser")
    sight.choose("ser", nth=0)
    sight.says("«ser» (antes de o) mira sobre todo a «ser» (después de no)")
    sight.handle("key", "ser (antes de o)").across.fill("2.5")
    sight.handle("key", "ser (antes de o)").up.fill("2.5")
    expect(sight.handle("key", "ser (después de no)").across).not_to_have_value("2.5")


def test_its_vectors_are_far_enough_apart_to_be_taken_hold_of(sight):
    sight.look_at("a b c d e f g h i j k l")
    expect(sight.bars).to_have_count(12)
    plane = sight.section("compare").get_by_role("group")
    spots = plane.evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(b => [b.x + b.width / 2, b.y + b.height / 2])"
    )
    assert len(spots) == 13
    gaps = [abs(complex(*p) - complex(*q)) for i, p in enumerate(spots) for q in spots[:i]]
    assert min(gaps) > 20


def test_it_is_kept_when_one_looks_elsewhere(sight):
    sight.look_at("uno dos tres")
    sight.set("query", "tres", 1, 1)
    sight.take("Ana guardó la plata en el banco")
    expect(sight.bars).to_have_count(7)
    sight.take("uno dos tres")
    sight.handle("query", "tres").expect_at(1, 1)


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_words_are_text(open_words, width):
    sight = open_words(viewport={"width": width, "height": 800})
    sight.open_more()
    sight.look_at(" ".join(HOSTILE))
    expect(sight.bars).to_have_count(len(HOSTILE))
    assert shown(sight) == HOSTILE
    for i in range(len(HOSTILE)):
        sight.words.get_by_role("radio").nth(i).press("Space")
        sight.says(f"«{HOSTILE[i]}» mira")
        sight.bars.nth(i).press("Enter")
        expect(sight.page.get_by_role("heading", name="De dónde sale")).to_contain_text(HOSTILE[i])
    sight.page.get_by_text(sight.said("map")).click()
    table = sight.page.get_by_role("region", name=sight.said("map"))
    assert table.get_by_role("columnheader").all_text_contents()[1:] == HOSTILE  # after the corner
    assert table.get_by_role("rowheader").all_text_contents() == HOSTILE
    options = sight.page.get_by_role("combobox").get_by_role("option").all_text_contents()
    assert options[: len(HOSTILE)] == [sight.said("handle.query", word=word) for word in HOSTILE]
    assert sight.page.evaluate("[window.ran, document.images.length]") == [None, 0]
    assert sight.page.locator("b", has_text="x").count() == 0
    assert sideways(sight) == 0


def test_hostile_words_survive_the_link(sight):
    sight.look_at(" ".join(HOSTILE))
    link = sight.page.get_by_label(sight.said("link.label")).input_value()
    sight.page.goto("about:blank")
    sight.page.goto(link)
    expect(sight.bars).to_have_count(len(HOSTILE))
    assert shown(sight) == HOSTILE


def test_twelve_long_words_fit_a_phone(open_words):
    sight = open_words(viewport={"width": 360, "height": 800})
    sight.open_more()
    sight.look_at(" ".join(["ininterrumpidamente" + "x" * i for i in range(12)]))
    expect(sight.bars).to_have_count(12)
    assert sideways(sight) == 0
    boxes = sight.words.get_by_role("radio").evaluate_all(
        "all => all.map(i => i.closest('label').getBoundingClientRect()).map(b => [b.top, b.bottom])"
    )
    assert all(above[1] <= below[0] + 1 for above, below in pairwise(boxes))
