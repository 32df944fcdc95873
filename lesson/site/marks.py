"""The marks that chapters use beside MyST's own: {fold}, {exercise}, {words} and {num}."""

import re
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole
from words import WORDS

from mirada.exercises.listing import ENTRIES
from mirada.exercises.texts import say
from mirada.lesson.notebook import answer_cell

NUMBER = re.compile(r"(.*?) [=≈] .+", re.DOTALL)


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


class Fold(SphinxDirective):
    """An answer that is folded away: `:::{fold} Title`."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self):
        title, messages = self.parse_inline(self.arguments[0])
        start, between, end = (
            raw(html) for html in ("<details class=fold><summary>", "</summary>", "</details>")
        )
        return [start, nodes.inline("", "", *title), between, *self.parse_content_to_nodes(), end, *messages]


class Exercise(SphinxDirective):
    """An exercise of mirada.exercises, by its name: the question, and the code in which it is answered."""

    required_arguments = 1

    def run(self):
        language = self.config.language
        words = WORDS[language]
        name = self.arguments[0]
        if name not in ENTRIES:
            raise self.error(f"there is no exercise {name!r} in mirada.exercises")
        box = nodes.container(classes=["exercise"], ids=[nodes.make_id(name)])
        core = f' <span class=core title="{words["core"]}">●</span>' if ENTRIES[name].core else ""
        number = words["exercise"].format(number=ENTRIES[name].number)
        title = escape(say(f"{name}.title", language))
        box += raw(f"<p class=exercise-title><span>{number}{core}</span> {title}</p>")
        box += self.parse_text_to_nodes(say(f"{name}.question", language))
        box += raw(f"<p class=exercise-how>{words['answer']}</p>")
        code = answer_cell(name, language)
        box += nodes.literal_block(code, code, language="python")
        return [box]


class Words(SphinxDirective):
    """The Words page, as a file beside this one (places.py writes it)."""

    def run(self):
        words, page = WORDS[self.config.language], "words.html"
        frame = f'<iframe src="{page}" title="{words["words_frame"]}" loading=lazy></iframe>'
        link = f'<p><a href="{page}">{words["words_alone"]}</a></p>'
        return [raw(f"<div class=activity>{frame}{link}</div>")]


class Number(SphinxRole):
    """A number and what it is equal to, which the tests compare: {num}`61 % = weights[3]` is read as 61 %."""

    def run(self):
        shown = NUMBER.fullmatch(self.text)
        if not shown:
            message = self.inliner.reporter.error(f"no “=” in {{num}}`{self.text}`", line=self.lineno)
            return [], [message]
        return [nodes.inline(self.text, shown[1], classes=["num"])], []


def setup(app):
    app.add_directive("fold", Fold)
    app.add_directive("exercise", Exercise)
    app.add_directive("words", Words)
    app.add_role("num", Number())
    return {"parallel_read_safe": True}
