"""The colours of code: ink, the cool colour of keys and the warm one of the query, as on the Words page."""

from pygments.style import Style
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String, Token


def colours(ink: str, hint: str, cool: str, warm: str) -> dict:
    return {
        Token: ink,
        Comment: f"italic {hint}",
        Keyword: cool,
        Operator: ink,
        Operator.Word: cool,
        Name: ink,
        Name.Builtin: ink,
        Name.Decorator: cool,
        String: warm,
        Number: warm,
        Error: ink,
    }


class Light(Style):
    background_color = "#F5F0E6"
    styles = colours("#211C17", "#695F52", "#176B8A", "#B0361F")


class Dark(Style):
    background_color = "#211D18"
    styles = colours("#EEE7DB", "#A89D8E", "#62B4D3", "#FF8F72")
