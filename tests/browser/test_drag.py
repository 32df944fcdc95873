"""Queries, keys and values are dragged by mouse, finger and keyboard, or typed in; all of it taken back."""

import pytest
from playwright.sync_api import Locator, expect
from sight import Sight, vectors, weights

START = "«banco» mira sobre todo a «plata» (61 %), luego a sí misma (28 %)."


def drag(sight: Sight, start: tuple[float, float], end: tuple[float, float]) -> None:
    mouse = sight.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(*end, steps=4)
    mouse.up()


def exact(query, key, moved: dict[int, tuple[float, float]] | None = None) -> list[float]:
    return weights(query, [(moved or {}).get(i, k) for i, k in enumerate(key)])


def test_a_mouse_drags_the_query(open_words):
    sight = open_words()
    query = sight.handle("query", "banco")
    drag(sight, query.centre(), query.pixel(-1.97, -0.53))
    query.expect_at(-2, -0.5)  # the grid has steps of 0.1
    sight.says("«banco» mira sobre todo a «Ana»")
    assert sight.arcs() == pytest.approx(
        {i: max(34 * w, 1) for i, w in enumerate(exact((-2, -0.5), vectors("money", "key")))}, abs=0.01
    )


def test_everything_follows_while_the_mouse_still_holds(open_words):
    sight = open_words()
    query = sight.handle("query", "banco")
    sight.page.mouse.move(*query.centre())
    sight.page.mouse.down()
    for x, y in [(0, 2), (-1.5, 1), (-2, 0)]:
        sight.page.mouse.move(*query.pixel(x, y))
        query.expect_at(x, y)
        row = exact((x, y), vectors("money", "key"))
        assert sight.arcs()[0] == pytest.approx(max(34 * row[0], 1), abs=0.01)
    sight.page.mouse.up()
    sight.page.mouse.move(*query.pixel(2, 2))  # let go: nothing follows any more
    query.expect_at(-2, 0)


def test_a_mouse_drags_a_key_and_every_word_that_looks_at_it_changes(open_words):
    sight = open_words()
    key = sight.handle("key", "Ana")
    drag(sight, key.centre(), key.pixel(1.0, 2.0))
    key.expect_at(1, 2)
    sight.says("«banco» mira sobre todo a «Ana»")
    row = exact(vectors("money", "query")[2], vectors("money", "key"), {0: (1, 2)})
    sight.choose("la")
    assert sight.arcs()[0] == pytest.approx(34 * row[0], abs=0.01)


def test_a_mouse_drags_a_value_and_only_the_output_moves(open_words):
    sight = open_words()
    before = sight.shares()
    value = sight.handle("value", "plata")
    x, y = value.centre()
    drag(sight, (x, y), (x, y - 60))
    expect(value.across).to_have_value("2.1")
    height = float(value.up.input_value())
    assert height > 0.5
    row = exact(vectors("money", "query")[6], vectors("money", "key"))
    values = vectors("money", "value")
    sight.expect_output(
        sum(w * v[0] for w, v in zip(row, values, strict=True)),
        sum(w * v[1] for w, v in zip(row, values, strict=True)) + row[3] * (height - 0.1),
    )
    assert sight.shares() == before


def test_what_is_dragged_stops_at_the_edge(open_words):
    sight = open_words()
    key = sight.handle("key", "plata")
    x, y = key.centre()
    drag(sight, (x, y), (x + 900, 5))
    key.expect_at(2.5, 2.5)
    drag(sight, key.centre(), (2, y + 900))
    expect(key.across).to_have_value("-2.5")
    expect(key.up).to_have_value("-2.5")


@pytest.mark.parametrize(("which", "name"), [("query", "banco"), ("key", "Ana"), ("value", "plata")])
def test_a_finger_drags(open_words, which, name):
    sight = open_words(has_touch=True, viewport={"width": 390, "height": 800})
    handle = sight.handle(which, name)
    before = (handle.across.input_value(), handle.up.input_value())
    x, y = handle.centre()
    scrolled = sight.page.evaluate("scrollY")
    touch = sight.page.context.new_cdp_session(sight.page)

    def send(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": px, "y": py} for px, py in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    send("touchStart", (x, y))
    for step in (10, 20, 30):
        send("touchMove", (x + step, y - step))
    send("touchEnd")
    expect(handle.across).not_to_have_value(before[0])
    expect(handle.up).not_to_have_value(before[1])
    assert float(handle.across.input_value()) > float(before[0])
    assert float(handle.up.input_value()) > float(before[1])
    assert sight.page.evaluate("scrollY") == scrolled  # the page stays where it is under the finger


def test_arrow_keys_move_both_ways_from_either_slider(open_words):
    sight = open_words()
    query = sight.handle("query", "banco")
    query.across.focus()
    press = sight.page.keyboard.press
    press("ArrowRight")
    query.expect_at(1, 1.9)
    press("ArrowUp")
    query.expect_at(1, 2)
    expect(query.up).to_be_focused()  # so that the number that changed is said
    press("ArrowLeft")
    query.expect_at(0.9, 2)
    expect(query.across).to_be_focused()
    press("ArrowDown")
    press("ArrowDown")
    query.expect_at(0.9, 1.8)
    press("Shift+ArrowLeft")  # ten steps at once
    query.expect_at(-0.1, 1.8)
    sight.says("«banco» mira sobre todo a")
    expect(query.up).to_have_attribute("aria-valuetext", "1,8")


def test_keys_stop_at_the_edge(open_words):
    sight = open_words()
    key = sight.handle("key", "guardó")
    key.across.focus()
    for _ in range(2):
        sight.page.keyboard.press("Shift+ArrowRight")
    sight.page.keyboard.press("Shift+ArrowDown")
    key.expect_at(2.5, -2.5)
    sight.page.keyboard.press("ArrowRight")
    key.expect_at(2.5, -2.5)


@pytest.mark.parametrize(("which", "name"), [("key", "en"), ("value", "banco")])
def test_keys_and_values_listen_to_arrows_too(open_words, which, name):
    sight = open_words()
    handle = sight.handle(which, name)
    x, y = float(handle.across.input_value()), float(handle.up.input_value())
    handle.up.focus()
    sight.page.keyboard.press("ArrowRight")
    sight.page.keyboard.press("Shift+ArrowUp")
    handle.expect_at(round(x + 0.1, 1), round(y + 1, 1))


def test_reset_takes_everything_back(open_words):
    sight = open_words(state="l=es&w=2&t=0.5&c=1&q2=1,2&k0=-1,1&v3=0,0")
    sight.reset.click()
    sight.says(START)
    sight.handle("key", "Ana").expect_at(-2.3, -0.1)
    sight.handle("value", "plata").expect_at(2.1, 0.1)
    sight.handle("query", "banco").expect_at(0.9, 1.9)
    expect(sight.causal).not_to_be_checked()
    expect(sight.temperature).to_have_attribute("aria-valuetext", "T = 1")
    sight.choose("la")
    sight.handle("query", "la").expect_at(0.1, 2)


class TestTypedNumbers:
    @pytest.fixture
    def sight(self, open_words) -> Sight:
        sight = open_words()
        sight.open_more()
        return sight

    def field(self, sight: Sight, axis: str) -> Locator:
        return sight.page.get_by_role("textbox", name=axis, exact=True)

    def test_a_number_moves_the_vector(self, sight):
        self.field(sight, "horizontal").fill("-2")
        self.field(sight, "vertical").fill("−0,5")
        sight.handle("query", "banco").expect_at(-2, -0.5)
        sight.says("«banco» mira sobre todo a «Ana»")

    def test_any_vector_can_be_picked(self, sight):
        sight.page.get_by_role("combobox", name=sight.said("vector.label")).select_option("Clave de Ana")
        expect(self.field(sight, "horizontal")).to_have_value("−2,3")
        self.field(sight, "vertical").fill("1.5")
        sight.handle("key", "Ana").expect_at(-2.3, 1.5)

    def test_what_is_no_number_gets_a_sentence_and_stays_as_typed(self, sight):
        field = self.field(sight, "horizontal")
        for typed, sentence in [
            ("NaN", "«NaN» no es un número: escribe uno como 1,2 o −0,5."),
            ("1e3", "«1e3» no es un número: escribe uno como 1,2 o −0,5."),
            ("<b>1</b>", "«<b>1</b>» no es un número: escribe uno como 1,2 o −0,5."),
            ("Infinity", "«Infinity» no es un número: escribe uno como 1,2 o −0,5."),
            ("", "Falta un número: escribe uno como 1,2 o −0,5."),
            ("99", "99 se sale del plano: escribe un número de −2,5 a 2,5."),
        ]:
            field.fill(typed)
            expect(sight.page.get_by_role("alert")).to_have_text(sentence)
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(field).to_have_accessible_description(sentence)
            sight.temperature.focus()  # also when one goes elsewhere
            expect(field).to_have_value(typed)
            sight.handle("query", "banco").expect_at(0.9, 1.9)
        sight.says(START)
        field.fill("1")
        expect(sight.page.get_by_role("alert")).to_have_count(0)
        sight.handle("query", "banco").expect_at(1, 1.9)
