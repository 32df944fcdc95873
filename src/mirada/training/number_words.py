"""Numbers in words, 0 to 999,999, as Spanish and English write them."""

from typing import Literal

Tongue = Literal["es", "en"]

# fmt: off
ENGLISH = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
ENGLISH_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SPANISH = [
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce",
    "trece", "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno",
    "veintidós", "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho",
    "veintinueve",
]
SPANISH_TENS = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
SPANISH_HUNDREDS = [
    "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos",
    "ochocientos", "novecientos",
]
# fmt: on
SHORT = {"uno": "un", "veintiuno": "veintiún"}  # before "mil"


def in_words(number: int, tongue: Tongue) -> list[str]:
    """The words of a number. English ones have no "and" and no hyphens: one hundred twenty three.

    Raises ValueError outside 0 to 999,999.
    """
    if not 0 <= number <= 999_999:
        raise ValueError(f"number must be from 0 to 999,999, but is {number}")
    below = below_thousand_es if tongue == "es" else below_thousand_en
    thousands, rest = divmod(number, 1000)
    if not thousands:
        return below(rest)
    if tongue == "en":
        words = [*below(thousands), "thousand"]
    elif thousands == 1:
        words = ["mil"]
    else:
        *first, last = below(thousands)
        words = [*first, SHORT.get(last, last), "mil"]
    return words + (below(rest) if rest else [])


def below_thousand_en(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [ENGLISH[hundreds], "hundred"] if hundreds else []
    if rest >= 20:
        words.append(ENGLISH_TENS[rest // 10 - 2])
        rest %= 10
        return words + ([ENGLISH[rest]] if rest else [])
    return words + ([ENGLISH[rest]] if rest or not words else [])


def below_thousand_es(number: int) -> list[str]:
    if number == 100:
        return ["cien"]
    hundreds, rest = divmod(number, 100)
    words = [SPANISH_HUNDREDS[hundreds - 1]] if hundreds else []
    if rest >= 30:
        words.append(SPANISH_TENS[rest // 10 - 3])
        rest %= 10
        return words + (["y", SPANISH[rest]] if rest else [])
    return words + ([SPANISH[rest]] if rest or not words else [])


def vocabulary(tongue: Tongue) -> list[str]:
    """All the words that numbers are written with."""
    if tongue == "en":
        return [*ENGLISH, *ENGLISH_TENS, "hundred", "thousand"]
    return [*SPANISH, *SHORT.values(), *SPANISH_TENS, "cien", *SPANISH_HUNDREDS, "mil", "y"]
