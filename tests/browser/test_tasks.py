"""The six cards: predict, then act; the page sees what was reached and answers, also to wrong guesses."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect
from sight import Sight

GIVEN = "Ana guardó la plata en el banco"
OTHER = "Ana se sentó en el banco de la plaza"


def to_ana_and_back(sight: Sight) -> None:
    sight.set("query", "banco", -2, -0.5)
    sight.says(sight.said("hint.back"))
    sight.reset.click()


def both_ends(sight: Sight) -> None:
    sight.temperature.press("Home")
    sight.says(sight.said("hint.high"))
    sight.temperature.press("End")


def mask_and_el(sight: Sight) -> None:
    sight.causal.press("Space")
    sight.choose("el")


# card: its steps, each with the option that is right, one that many take, and what to do.
Step = tuple[str, str, str, str, Callable[[Sight], None]]
CARDS: dict[int, list[Step]] = {
    1: [
        ("banco", "plata", "banco", "banco", lambda sight: sight.choose("banco")),
        ("la", "plata", "guardó", "guardo", lambda sight: sight.choose("la")),
        ("guardo", "Ana", "plata", "plata", lambda sight: sight.choose("guardó")),
    ],
    2: [("drag", "option.towards", "option.away", "away", to_ana_and_back)],
    3: [("ends", "option.never", "option.high", "high", both_ends)],
    4: [
        ("el", "plata", "banco", "banco", mask_and_el),
        ("ana", "option.herself", "option.everybody", "everybody", lambda sight: sight.choose("Ana")),
    ],
    5: [
        ("less", "Ana", "option.none", "none", lambda sight: sight.set("key", "plata", 2.5, 2.5)),
        ("why", "option.grows", "option.near", "near", lambda sight: None),
    ],
    6: [
        ("where", "option.seat", "option.money", "money", lambda sight: sight.take(OTHER)),
        ("which", "plaza", "Ana", "ana", lambda sight: None),
    ],
}


def chip(sight: Sight, task: int, step: str, option: str) -> Locator:
    question = sight.page.get_by_text(sight.said(f"step.{step}.ask"), exact=True)
    text = sight.said(option) if option.startswith("option.") else option
    return sight.card(task).locator("div", has=question).last.get_by_role("button", name=text, exact=True)


def done(sight: Sight) -> Locator:
    """The headings of the cards that are done."""
    return sight.page.locator("summary", has_text=sight.said("done"))


def predict(sight: Sight, task: int, step: str, option: str) -> None:
    said = chip(sight, task, step, option)
    said.click()
    expect(said).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("guess", ["right", "wrong"])
@pytest.mark.parametrize("task", CARDS)
def test_card(open_words, task, guess):
    sight = open_words()
    card = sight.card(task)
    for step, right, wrong, name, act in CARDS[task]:
        predict(sight, task, step, right if guess == "right" else wrong)
        act(sight)
        answer = f"answer.{step}.{name}" if guess == "wrong" else "answer.right"
        expect(card).to_contain_text(sight.said(answer))
        expect(card).to_contain_text(sight.said(f"answer.{step}"))
    expect(done(sight)).to_have_count(1)  # this one, and no other
    expect(done(sight)).to_contain_text(sight.said(f"task.{task}"))


def test_nothing_counts_before_a_prediction(open_words):
    sight = open_words()
    both_ends_seen = sight.card(3)
    sight.temperature.press("Home")
    sight.temperature.press("End")
    predict(sight, 3, "ends", "option.never")
    expect(both_ends_seen).to_contain_text(sight.said("hint.low"))  # the low end was before
    expect(done(sight)).to_have_count(0)


def test_the_first_prediction_stays(open_words):
    sight = open_words()
    predict(sight, 2, "drag", "option.longer")
    for other in ("option.towards", "option.away", "option.query"):
        expect(chip(sight, 2, "drag", other)).to_be_disabled()
    sight.set("query", "banco", -2, -0.5)
    sight.reset.click()
    expect(chip(sight, 2, "drag", "option.towards")).to_be_enabled()  # shown as the right one
    expect(chip(sight, 2, "drag", "option.longer")).to_have_attribute("aria-pressed", "true")


def test_an_unusual_wrong_guess_is_told_so_too(open_words):
    sight = open_words()
    predict(sight, 1, "banco", "Ana")
    expect(sight.card(1)).to_contain_text(f"{sight.said('answer.wrong')} {sight.said('answer.banco')}")


def test_hints_lead_back_when_one_has_gone_astray(open_words):
    sight = open_words()
    predict(sight, 2, "drag", "option.towards")
    sight.set("key", "Ana", 2, 2.5)  # banco looks at Ana, but her key was moved
    expect(sight.card(2)).to_contain_text(sight.said("hint.key"))
    sight.reset.click()
    sight.take(OTHER)
    expect(sight.card(2)).to_contain_text(sight.said("hint.other"))
    sight.take(GIVEN)
    predict(sight, 5, "less", "Ana")
    sight.set("key", "plata", -1, 0.9)
    expect(sight.card(5)).to_contain_text(sight.said("hint.direction"))
    sight.set("key", "plata", 1, 1)
    expect(sight.card(5)).to_contain_text(sight.said("hint.farther"))


def test_the_curious_find_a_query_of_length_0(open_words):
    sight = open_words()
    predict(sight, 3, "ends", "option.never")
    both_ends(sight)
    expect(sight.card(3)).to_contain_text(sight.said("hint.curious"))
    sight.set("query", "banco", 0, 0)
    expect(sight.card(3)).to_contain_text(sight.said("hint.zero"))


def test_the_sixth_card_is_not_fooled_by_moved_values(open_words):
    sight = open_words()
    for word, x, y in [("plaza", 2, 0), ("sentó", 2, 0)]:
        sight.take(OTHER)
        sight.set("value", word, x, y)
    sight.take(GIVEN)
    predict(sight, 6, "where", "option.seat")
    sight.set("value", "banco", 2.5, 0)
    sight.take(OTHER)
    sight.set("value", "plaza", 2, 0)
    expect(sight.card(6)).to_contain_text(sight.said("step.where.ask"))


def test_one_card_is_open_at_a_time(open_words):
    sight = open_words()
    for task in (4, 2, 6):
        card = sight.card(task)
        expect(card.locator("details")).to_have_attribute("open", "")
        expect(sight.page.get_by_role("list").locator("details[open]")).to_have_count(1)
    sight.card(6).get_by_text(sight.said("task.6")).click()
    expect(sight.page.get_by_role("list").locator("details[open]")).to_have_count(0)


def test_a_card_stays_open_though_the_page_draws_itself_at_that_moment(open_words):
    sight = open_words()
    heading = sight.page.get_by_text(sight.said("task.4"))
    # Both in one turn: the page draws the other word before the browser tells it of the card.
    heading.evaluate("e => { e.click(); document.querySelector('fieldset input:not(:checked)').click(); }")
    expect(sight.page.get_by_text(sight.said("step.el.ask"))).to_be_visible()
    expect(sight.page.get_by_role("list").locator("details[open]")).to_have_count(1)


def test_progress_is_kept_over_a_reload_and_across_languages(open_words):
    sight = open_words()
    predict(sight, 2, "drag", "option.away")
    to_ana_and_back(sight)
    expect(done(sight)).to_have_count(1)
    sight.page.reload()
    expect(done(sight)).to_have_count(1)
    sight.card(2)
    expect(chip(sight, 2, "drag", "option.away")).to_have_attribute("aria-pressed", "true")
    sight.page.get_by_role("link", name="English").click()
    expect(done(Sight(sight.page, "en"))).to_have_count(1)


def test_a_card_by_keyboard_alone_in_english(open_words):
    sight = open_words("en")
    page = sight.page
    page.get_by_text(sight.said("task.4")).locator("xpath=ancestor::summary").press("Enter")
    card = page.get_by_role("listitem").filter(has_text=sight.said("task.4"))
    card.get_by_role("button", name="money", exact=True).press("Enter")
    sight.causal.press("Space")
    sight.word("the", nth=1).press("Space")
    expect(card).to_contain_text(sight.said("answer.el"))
    card.get_by_role("button", name="only herself").press("Space")
    sight.word("Ana").press("Space")
    expect(card).to_contain_text(sight.said("answer.ana"))
    expect(page.get_by_role("status")).to_have_text(re.compile("^" + re.escape(sight.said("answer.right"))))
