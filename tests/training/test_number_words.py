"""Numbers in words, the odd ones by hand and all of them by counting."""

import re

import pytest

from mirada.training.number_words import in_words, vocabulary

ODD = [
    (0, "cero", "zero"),
    (1, "uno", "one"),
    (10, "diez", "ten"),
    (13, "trece", "thirteen"),
    (16, "dieciséis", "sixteen"),
    (20, "veinte", "twenty"),
    (21, "veintiuno", "twenty one"),
    (22, "veintidós", "twenty two"),
    (23, "veintitrés", "twenty three"),
    (26, "veintiséis", "twenty six"),
    (30, "treinta", "thirty"),
    (31, "treinta y uno", "thirty one"),
    (40, "cuarenta", "forty"),
    (99, "noventa y nueve", "ninety nine"),
    (100, "cien", "one hundred"),
    (101, "ciento uno", "one hundred one"),
    (115, "ciento quince", "one hundred fifteen"),
    (131, "ciento treinta y uno", "one hundred thirty one"),
    (200, "doscientos", "two hundred"),
    (500, "quinientos", "five hundred"),
    (700, "setecientos", "seven hundred"),
    (900, "novecientos", "nine hundred"),
    (1_000, "mil", "one thousand"),
    (1_001, "mil uno", "one thousand one"),
    (1_100, "mil cien", "one thousand one hundred"),
    (2_000, "dos mil", "two thousand"),
    (16_000, "dieciséis mil", "sixteen thousand"),
    (21_000, "veintiún mil", "twenty one thousand"),
    (21_021, "veintiún mil veintiuno", "twenty one thousand twenty one"),
    (31_031, "treinta y un mil treinta y uno", "thirty one thousand thirty one"),
    (100_000, "cien mil", "one hundred thousand"),
    (101_101, "ciento un mil ciento uno", "one hundred one thousand one hundred one"),
    (121_000, "ciento veintiún mil", "one hundred twenty one thousand"),
    (500_500, "quinientos mil quinientos", "five hundred thousand five hundred"),
    (
        999_999,
        "novecientos noventa y nueve mil novecientos noventa y nueve",
        "nine hundred ninety nine thousand nine hundred ninety nine",
    ),
]


@pytest.mark.parametrize(("number", "spanish", "english"), ODD)
def test_odd_numbers(number, spanish, english):
    assert " ".join(in_words(number, "es")) == spanish
    assert " ".join(in_words(number, "en")) == english


@pytest.mark.parametrize("tongue", ["es", "en"])
def test_each_number_has_words_of_its_own_and_all_words_are_in_use(tongue):
    written = {n: " ".join(in_words(n, tongue)) for n in [*range(2_000), *range(0, 1_000_000, 997)]}
    assert len(set(written.values())) == len(written)
    assert {word for words in written.values() for word in words.split()} == set(vocabulary(tongue))
    assert len(vocabulary(tongue)) == len(set(vocabulary(tongue)))
    assert max(len(in_words(n, tongue)) for n in range(999_000, 1_000_000)) == 9


def test_spanish_follows_its_rules():
    for number in range(1, 1_000_000, 313):
        words = " ".join(in_words(number, "es"))
        assert not re.search(r"\b(uno|veintiuno) mil\b", words)  # un mil, veintiún mil
        assert not re.search(r"\bcien (?!mil\b)", words)  # ciento before anything but "mil"
        assert not re.search(r"\bciento( mil)?$", words)
        assert not words.startswith("un mil")


@pytest.mark.parametrize("number", [-1, 1_000_000])
def test_other_numbers_are_refused(number):
    with pytest.raises(ValueError, match="from 0 to 999,999"):
        in_words(number, "en")
