"""A word is chosen by mouse, finger or keyboard; arcs, percentages, columns, sentence and planes follow."""

import pytest
from playwright.sync_api import expect
from sight import Sight, mean, vectors, weights

BANCO = [2, 3, 3, 61, 2, 1, 28]
PLATA = [0, 23, 1, 18, 4, 2, 52]
WORDS = ["Ana", "guardó", "la", "plata", "en", "el", "banco"]


BANCO_LOOKS = "«banco» mira sobre todo a «plata» (61 %), luego a sí misma (28 %)."
PLATA_LOOKS = "«plata» mira sobre todo a «banco» (52 %), luego a «guardó» (23 %)."


def expect_looking(sight: Sight, name: str, shares: list[int], sentence: str) -> None:
    """Every part of the page shows the look of this word, in the first sentence, nothing moved."""
    row = WORDS.index(name)
    exact = weights(vectors("money", "query")[row], vectors("money", "key"))
    sight.expect_shares(shares)
    assert sum(share or 0 for share in sight.shares()) == 100
    assert sight.arcs() == pytest.approx({i: max(34 * w, 1) for i, w in enumerate(exact)}, abs=0.01)
    assert sight.columns() == pytest.approx([max(62 * w, 1) for w in exact], abs=0.1)
    sight.says(sentence)
    expect(sight.page.get_by_role("group", name="Consulta de")).to_have_count(1)
    expect(sight.handle("query", name).group).to_be_visible()
    sight.expect_output(*mean(exact, vectors("money", "value")))
    sight.says(f"{name} se lleva la media de los valores")


def test_banco_looks_first(open_words):
    sight = open_words()
    expect(sight.word("banco")).to_be_checked()
    expect_looking(sight, "banco", BANCO, BANCO_LOOKS)


def test_a_mouse_that_rests_on_a_word_shows_its_look(open_words):
    sight = open_words()
    sight.text("plata").hover()
    expect_looking(sight, "plata", PLATA, PLATA_LOOKS)
    expect(sight.word("banco")).to_be_checked()  # seen, not chosen
    sight.page.get_by_role("heading", level=1).hover()
    expect_looking(sight, "banco", BANCO, BANCO_LOOKS)


def test_a_click_keeps_the_word(open_words):
    sight = open_words()
    sight.text("plata").click()
    sight.page.get_by_role("heading", level=1).hover()
    expect(sight.word("plata")).to_be_checked()
    expect_looking(sight, "plata", PLATA, PLATA_LOOKS)


def test_a_finger_taps_a_word_and_leaves_no_hover_behind(open_words):
    sight = open_words(has_touch=True, viewport={"width": 390, "height": 800})
    sight.text("la").tap()
    expect(sight.word("la")).to_be_checked()
    sight.expect_shares([12, 1, 9, 60, 3, 3, 12])
    sight.says("«la» mira sobre todo a «plata» (60 %), luego a «banco» (12 %).")
    sight.choose("el")  # were the finger still thought to rest there, "la" would stay on show
    sight.expect_shares([0, 10, 1, 33, 3, 1, 52])


def test_arrows_go_from_word_to_word(open_words):
    sight = open_words()
    sight.word("banco").focus()
    sight.page.keyboard.press("ArrowLeft")
    expect(sight.word("el")).to_be_focused()
    sight.expect_shares([0, 10, 1, 33, 3, 1, 52])
    sight.page.keyboard.press("ArrowRight")
    sight.page.keyboard.press("ArrowRight")  # from the last word to the first
    expect(sight.word("Ana")).to_be_checked()
    expect(sight.word("Ana")).to_be_focused()
    sight.expect_shares([1, 62, 2, 2, 12, 6, 15])


def test_equal_words_are_told_apart(open_words):
    sight = open_words("en")
    sight.choose("the", nth=0)
    sight.says("“the” (before money) looks chiefly at “money” (60%), then at “bank” (12%).")
    sight.choose("the", nth=1)
    sight.says("“the” (before bank) looks chiefly at “bank” (52%), then at “money” (33%).")


def test_all_looks_stand_in_one_table(open_words):
    sight = open_words()
    sight.page.get_by_text(sight.said("map")).click()
    table = sight.page.get_by_role("region", name=sight.said("map"))
    row = table.get_by_role("row").filter(has=sight.page.get_by_role("rowheader", name="plata", exact=True))
    expect(row.get_by_role("cell")).to_have_text([f"{share or '<1'} %" for share in PLATA])
    expect(table.get_by_role("row")).to_have_count(1 + len(WORDS))


@pytest.mark.parametrize(("motion", "moving"), [("no-preference", True), ("reduce", False)])
def test_arcs_thicken_on_their_way_unless_motion_is_unwanted(open_words, motion, moving):
    sight = open_words(reduced_motion=motion)
    expect(sight.word("banco")).to_be_checked()
    clock = sight.page.clock
    clock.install()
    clock.pause_at("2100-01-01")
    sight.choose("la")
    clock.run_for(90)  # half-way through 180 ms
    row = weights(vectors("money", "query")[2], vectors("money", "key"))
    last = max(34 * row[6], 1)
    if moving:
        first = 34 * weights(vectors("money", "query")[6], vectors("money", "key"))[6]
        assert last + 1 < sight.arcs()[6] < first - 1
        clock.run_for(200)
    assert sight.arcs()[6] == pytest.approx(last, abs=0.01)


def test_a_percentage_of_the_word_under_the_mouse_opens_the_sum_of_that_look(open_words):
    sight = open_words()
    sight.text("el").hover()
    bar = sight.bars.nth(6)
    expect(bar).to_contain_text("52")
    bar.dispatch_event("click")  # the mouse still rests on the word
    expect(sight.word("el")).to_be_checked()
    expect(sight.page.get_by_role("heading", name="De dónde sale el 52")).to_be_visible()
