"""What tests need of a chapter: its code run as a notebook would, its prose, and the numbers in it."""

import ast
import contextlib
import io
import json
import math
import re
from dataclasses import dataclass, field

from mirada.lesson.chapters import Prose
from mirada.lesson.notebook import notebook

NUMBER = re.compile(r"\{num\}`([^`]*?) ([=≈]) ([^`]*)`")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@dataclass
class Ran:
    """A chapter that was run: its names, and all that a reader sees of numbers."""

    names: dict = field(default_factory=dict)
    shown: str = ""  # printed, or the text of a last line
    figures: list = field(default_factory=list)


def code_cells(chapter):
    cells = json.loads(notebook(chapter))["cells"]
    return [cell["source"] for cell in cells if cell["cell_type"] == "code"]


def run(chapter):
    """Runs the chapter's notebook, cell after cell, as Jupyter would: the last line of a cell is shown."""
    ran = Ran({"__name__": "__main__"})
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, source in enumerate(code_cells(chapter)):
            # An exercise is the reader's: its names are no part of the chapter.
            names = dict(ran.names) if source.startswith("from mirada import exercises") else ran.names
            tree = ast.parse(source)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            place = f"<{chapter.name}, code cell {number}>"
            exec(compile(tree, place, "exec"), names)
            if last is None:
                continue
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
            if hasattr(value, "savefig"):
                ran.figures.append(value)
            elif value is not None:
                print(value)
    ran.shown = printed.getvalue()
    return ran


def prose(chapter):
    return "\n\n".join(piece.text for piece in chapter.pieces if isinstance(piece, Prose))


def numbers(chapter):
    """(shown, sign, expression) of each number that the prose promises."""
    return NUMBER.findall(prose(chapter))


def readable(chapter):
    """The prose that is left when its checked numbers, its code and its addresses are taken out."""
    text = NUMBER.sub("", prose(chapter))
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"^\$\$$.*?^\$\$$", "", text, flags=re.DOTALL | re.MULTILINE)  # formulas define
    return re.sub(r"\]\([^)]*\)", "]", text)


def read_number(shown, language):
    """A number as it is written in a language: (its value, one unit of its last digit)."""
    text = re.sub(r"\s", "", shown).replace("−", "-")
    text, percent = text.removesuffix("%"), text.endswith("%")
    text, _, power = text.partition("×10")
    if language == "es":
        assert "." not in text, f"{shown}: Spanish decimals have a comma, thousands a space"
        text = text.replace(",", ".")
    else:
        text = text.replace(",", "")
    scale = 10.0 ** int(power.translate(RAISED) or 0) / (100 if percent else 1)
    return float(text) * scale, 10.0 ** -len(text.partition(".")[2]) * scale


def agrees(shown, sign, value, language):
    promised, unit = read_number(shown, language)
    within = unit / 2 if sign == "=" else unit
    return math.isclose(promised, float(value), rel_tol=1e-6, abs_tol=within * (1 + 1e-6))


class _Blank(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node):
        self.generic_visit(node)
        node.values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        return node


def bones(source):
    """The code without its comments and strings."""
    return ast.dump(_Blank().visit(ast.parse(source)))
