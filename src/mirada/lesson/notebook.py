"""A chapter as a Jupyter notebook that runs on its own: what only the site understands becomes plain
Markdown, HTML and code."""

import ast
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from mirada import exercises
from mirada.catalogue import Language, say
from mirada.exercises import texts
from mirada.lesson.chapters import Chapter, Code, Prose

EXERCISES = "from mirada import exercises"
PLACE = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
NUMBER = re.compile(r"\{num\}`([^`]*?) [=≈] [^`]*`")
CHAPTER = re.compile(r"\]\((\d\d-[\w-]+)\.md(#[\w-]+)?\)")
FOLD = re.compile(r"^:::\{fold\} ([^\n]+)\n(.*?)^:::$", re.DOTALL | re.MULTILINE)
ACTIVE = re.compile(r"^```\{(exercise|words)\} *(\w*)\n```$", re.MULTILINE)
INCLUDED = re.compile(
    r"^```\{literalinclude\} \.\./\.\./src/mirada/(\S+)\n((?::[^\n]*\n)*)```$", re.MULTILINE
)
UNKNOWN = re.compile(r"^(?:```|:::)\{.*|\{\w+\}`.*", re.MULTILINE)


def notebook(chapter: Chapter) -> str:
    """The notebook, as the text of an .ipynb file."""
    cells = [cell for piece in chapter.pieces for cell in converted(piece, chapter)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}, "title": chapter.title},
        "cells": cells,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def converted(piece: Prose | Code, chapter: Chapter) -> Iterator[dict]:
    if isinstance(piece, Code):
        yield code(piece.source)
        return
    before = 0
    for found in ACTIVE.finditer(piece.text):
        yield from prose(piece.text[before : found.start()])
        before = found.end()
        if found[1] == "words":
            yield code(f"from mirada import Words\n\nWords(language={chapter.language!r})")
        else:
            yield from exercise(found[2], chapter)
    yield from prose(piece.text[before:])


def exercise(name: str, chapter: Chapter) -> Iterator[dict]:
    """The question, and a cell in which it can be answered."""
    title, question = (texts.say(f"{name}.{part}", chapter.language) for part in ("title", "question"))
    yield from prose(f"**{title}**\n\n{question}")
    yield code(answer_cell(name, chapter.language))


def answer_cell(name: str, language: Language) -> str:
    """Where an exercise is answered: the code that it gives to begin with, or a place, and its check.

    Whatever the computer's language is, its verdict speaks the chapter's.
    """
    begun = getattr(exercises, name).given_code
    if begun:
        answer = ast.parse(begun).body[-1].name  # pyright: ignore[reportAttributeAccessIssue]
    else:
        answer = "answer"
        begun = f"answer = None  # {say('lesson.answer_here', language)}"
    spoken = f'exercises.set_language("{language}")'
    return "\n\n".join([EXERCISES, spoken, begun, f"exercises.{name}.check({answer})"])


def prose(text: str) -> Iterator[dict]:
    text = plain(text).strip()
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": text}


def plain(text: str) -> str:
    """Without MyST's own marks. Raises ValueError for one that is not known here."""
    text = PLACE.sub(r'<a id="\1"></a>', text)
    text = NUMBER.sub(r"\1", text)
    text = CHAPTER.sub(r"](\1.ipynb\2)", text)
    text = INCLUDED.sub(included, text)
    text = FOLD.sub(
        lambda fold: f"<details><summary>{escape(fold[1])}</summary>\n\n{fold[2]}\n</details>", text
    )
    if left := UNKNOWN.search(text):
        raise ValueError(f"a notebook cannot show {left[0]!r}")
    return text


def included(found: re.Match[str]) -> str:
    """A file of ours as it is installed, or the one function or class of it that `:pyobject:` names."""
    source = (Path(__file__).parents[1] / found[1]).read_text("utf-8").rstrip()
    name = re.search(r":pyobject: (\w+)", found[2])
    if name:
        (node,) = (each for each in ast.parse(source).body if getattr(each, "name", "") == name[1])
        source = ast.get_source_segment(source, node)
    return f"```python\n{source}\n```"


def code(source: str) -> dict:
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
