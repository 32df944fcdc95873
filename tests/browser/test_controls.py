"""Temperature, causal mask, the other sentence, and a percentage opened into its sum."""

import pytest
from playwright.sync_api import expect
from sight import Sight, mean, vectors, weights

BANCO = [2, 3, 3, 61, 2, 1, 28]


def at(temperature: float) -> list[float]:
    return weights(vectors("money", "query")[6], vectors("money", "key"), temperature=temperature)


class TestTemperature:
    def test_at_the_lowest_one_takes_nearly_all(self, open_words):
        sight = open_words()
        sight.temperature.press("Home")
        expect(sight.temperature).to_have_attribute("aria-valuetext", "T = 0,1")
        sight.expect_shares([0, 0, 0, 100, 0, 0, 0])
        sight.says("«banco» mira casi solo a «plata» (100 %).")
        assert sight.arcs()[3] > 33.9
        assert set(sight.arcs()) == set(range(7))  # a weight that exists is seen

    def test_at_the_highest_nearly_even_never_quite(self, open_words):
        sight = open_words()
        sight.temperature.press("End")
        expect(sight.temperature).to_have_attribute("aria-valuetext", "T = 10")
        sight.says("«banco» mira a todas casi por igual; un poco más, a «plata» (18 %).")
        assert sight.arcs() == pytest.approx({i: 34 * w for i, w in enumerate(at(10))}, abs=0.01)
        assert len(set(sight.arcs().values())) == 7
        assert sum(share or 0 for share in sight.shares()) == 100

    def test_it_is_logarithmic_with_1_in_the_middle(self, open_words):
        sight = open_words()
        box = sight.temperature.bounding_box()
        assert box
        for part, low, high in [(0.25, 0.27, 0.37), (0.75, 2.7, 3.7), (0.5, 0.98, 1.02)]:
            sight.page.mouse.click(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
            said = sight.temperature.get_attribute("aria-valuetext") or ""
            assert low <= float(said.removeprefix("T = ").replace(",", ".")) <= high
            sight.says(said)  # the number beside the slider is the one that is spoken

    def test_it_divides_the_score(self, open_words):
        sight = open_words()
        sight.temperature.focus()
        for _ in range(6):  # twenty steps are a factor of ten: six are about two
            sight.page.keyboard.press("ArrowRight")
        expect(sight.temperature).to_have_attribute("aria-valuetext", "T = 2")
        assert sight.arcs() == pytest.approx({i: max(34 * w, 1) for i, w in enumerate(at(2))}, abs=0.01)


class TestCausalMask:
    @pytest.mark.parametrize("by", ["mouse", "keyboard", "finger"])
    def test_it_hides_what_comes_later(self, open_words, by):
        sight = open_words(has_touch=by == "finger")
        sight.choose("el")
        if by == "keyboard":
            sight.causal.press("Space")
        elif by == "finger":
            sight.page.get_by_text("Máscara causal", exact=True).tap()
        else:
            sight.page.get_by_text("Máscara causal", exact=True).click()
        expect(sight.causal).to_be_checked()
        sight.expect_shares([1, 20, 3, 69, 5, 2, None])
        assert set(sight.arcs()) == set(range(6))  # no arc to banco
        sight.says("«el» mira sobre todo a «plata» (69 %), luego a «guardó» (20 %).")

    def test_a_masked_word_is_hatched_and_cannot_be_pressed(self, open_words):
        sight = open_words(state="l=es&w=5&c=1")
        banco = sight.bars.last
        expect(banco).to_have_accessible_name("banco: tapada por la máscara")
        expect(banco).to_be_disabled()
        expect(banco).to_have_text("")
        assert "repeating-linear-gradient" in banco.locator("span").evaluate(
            "e => getComputedStyle(e).backgroundImage"
        )

    def test_in_the_table_too_hatching_tells_masked_from_nothing(self, open_words):
        sight = open_words(state="l=es&c=1")
        sight.page.get_by_text(sight.said("map")).click()
        cells = sight.page.get_by_role("region", name=sight.said("map")).get_by_role("cell")
        expect(cells).to_have_count(49)
        expect(cells.nth(1)).to_have_text(sight.said("map.masked"))  # for the ear
        hatched = cells.evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundImage.startsWith('repeating-linear-gradient'))"
        )
        assert hatched == [column > row for row in range(7) for column in range(7)]

    def test_ana_may_only_look_at_herself(self, open_words):
        sight = open_words(state="l=es&w=0&c=1")
        sight.expect_shares([100, None, None, None, None, None, None])
        assert sight.arcs() == {0: pytest.approx(34)}
        sight.says("«Ana» solo puede mirar a sí misma (100 %).")

    def test_a_pinned_word_that_is_masked_says_that_it_does_not_count(self, open_words):
        sight = open_words(state="l=es&w=5&p=6&c=1")
        sight.says(sight.said("sum.masked", word="banco"))


class TestTwoSentences:
    def test_what_banco_takes_goes_from_money_to_seat(self, open_words):
        sight = open_words()
        sight.expect_output(1.56, 0.34)
        assert len(sight.diamonds()) == 1
        sight.take("Ana se sentó en el banco de la plaza")
        expect(sight.word("banco")).to_be_checked()
        sight.says("«banco» mira sobre todo a «plaza» (44 %), luego a «sentó» (34 %).")
        sight.expect_output(0.49, 1.65)
        dashed, _ = sight.diamonds()
        assert dashed == pytest.approx((1.56, 0.34), abs=0.03)
        sight.says(sight.said("values.both", word="banco"))
        sight.handle("query", "banco").expect_at(0.9, 1.9)  # the same vectors
        sight.handle("key", "banco").expect_at(2.2, -0.3)
        sight.handle("value", "banco").expect_at(0.9, 0.9)

    def test_a_word_of_both_takes_its_moved_vectors_along_and_there_is_a_way_back(self, open_words):
        sight = open_words()
        sight.set("query", "banco", 0, 1)
        sight.take("Ana se sentó en el banco de la plaza")
        sight.handle("query", "banco").expect_at(0, 1)
        sight.take("Ana guardó la plata en el banco")
        sight.handle("query", "banco").expect_at(0, 1)
        row = weights((0, 1), vectors("money", "key"))
        sight.expect_output(*mean(row, vectors("money", "value")))


class TestSum:
    def expect_sum(self, sight: Sight, *lines: tuple[str, str]) -> None:
        rows = sight.sum.get_by_role("row")
        expect(rows).to_have_count(len(lines))
        for row, (work, result) in zip(rows.all(), lines, strict=True):
            expect(row.get_by_role("cell")).to_have_text([work, result])

    def test_the_start_shows_where_the_61_per_cent_come_from(self, open_words):
        sight = open_words()
        expect(sight.page.get_by_role("heading", name="De dónde sale el 61 % de plata")).to_be_visible()
        self.expect_sum(
            sight,
            ("0,9 · 0,9 + 1,9 · 0,9", "2,52"),
            ("2,52 / 1,41", "1,78"),
            ("e1,78", "5,94"),
            ("5,94 / 9,78", "61 %"),
        )
        sight.says(sight.said("sum.total", total="9,78", n="siete"))

    @pytest.mark.parametrize("by", ["mouse", "keyboard", "finger"])
    def test_a_pressed_percentage_opens_its_sum(self, open_words, by):
        sight = open_words(has_touch=by == "finger")
        bar = sight.page.get_by_role("button", name="2 % a Ana: ver de dónde sale")
        {"mouse": bar.click, "keyboard": lambda: bar.press("Enter"), "finger": bar.tap}[by]()
        expect(bar).to_have_attribute("aria-pressed", "true")
        expect(sight.page.get_by_role("heading", name="De dónde sale el 2 % de Ana")).to_be_visible()
        self.expect_sum(
            sight,
            ("0,9 · (−2,3) + 1,9 · (−0,1)", "−2,26"),
            ("−2,26 / 1,41", "−1,60"),
            ("e−1,60", "0,20"),
            ("0,20 / 9,78", "2 %"),
        )
        sight.says(sight.said("compare.back"))
        expect(sight.bars.nth(3)).to_have_attribute("aria-pressed", "false")

    @pytest.mark.parametrize("width", [360, 320])
    def test_a_long_product_stays_on_its_line_or_ends_it_before_the_plus(self, open_words, width):
        sight = open_words(state="l=es&w=0&p=0", viewport={"width": width, "height": 800})
        expect(sight.bars).to_have_count(7)
        lines = sight.sum.locator("td").first.evaluate(
            """cell => {
                const line = document.createRange(), lines = {};
                for (const text of [...cell.childNodes].flatMap(n => n.firstChild ?? n))
                    [...text.data].forEach((sign, i) => {
                        line.setStart(text, i);
                        line.setEnd(text, i + 1);
                        const {top} = line.getBoundingClientRect();
                        if (sign.trim()) lines[top] = (lines[top] ?? "") + sign;
                    });
                return Object.values(lines);
            }"""
        )
        first, second = "0,8·(−2,3)", "+(−1,3)·(−0,1)"
        assert lines == [first + second] if width == 360 else lines in ([first + second], [first, second])

    def test_a_second_press_goes_back_to_the_one_most_looked_at(self, open_words):
        sight = open_words()
        sight.bars.first.click()
        expect(sight.bars.first).to_have_attribute("aria-pressed", "true")
        sight.bars.first.click()
        expect(sight.bars.nth(3)).to_have_attribute("aria-pressed", "true")
        expect(sight.page.get_by_role("heading", name="De dónde sale el 61 % de plata")).to_be_visible()

    def test_it_follows_the_temperature(self, open_words):
        sight = open_words(state="l=es&t=2")
        self.expect_sum(
            sight,
            ("0,9 · 0,9 + 1,9 · 0,9", "2,52"),
            ("2,52 / 2,83", "0,89"),
            ("e0,89", "2,44"),
            ("2,44 / 6,43", "38 %"),
        )

    def test_numbers_too_large_to_read_are_taken_relative_to_the_largest(self, open_words):
        sight = open_words(state="l=es&t=0.1")
        sight.says(sight.said("sum.shift", shift="17,82"))

    def test_a_query_of_length_0_looks_at_all_alike(self, open_words):
        sight = open_words()
        sight.set("query", "banco", 0, 0)
        sight.says("«banco» mira a todas por igual.")
        sight.says(sight.said("compare.zero"))
        assert sorted(share or 0 for share in sight.shares()) == [14, 14, 14, 14, 14, 15, 15]
