"""Where things are: headings under the names that both languages share, the same page in the other language,
the notebook of each chapter and the Words page."""

from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from mirada.lesson.chapters import chapters
from mirada.lesson.notebook import notebook
from mirada.views.page import words_page


class CoreMark(SphinxTransform):
    """The ● of the core path, in the colour that says "this one"."""

    default_priority = 300

    def apply(self, **kwargs):
        for text in list(self.document.findall(nodes.Text)):
            before, mark, after = text.partition("●")
            if mark and not isinstance(text.parent, nodes.raw):
                dot = nodes.inline(mark, mark, classes=["core"])
                text.parent.replace(text, [nodes.Text(before), dot, nodes.Text(after)])


class NamedPlaces(SphinxTransform):
    """A heading with a name, `(name)=`, is found under it alone: the switch of languages goes there."""

    default_priority = 300  # after the names have reached their headings

    def apply(self, **kwargs):
        for section in self.document.findall(nodes.section):
            if named := [place for place in section["ids"] if place in explicit(self.document)]:
                section["ids"] = named[:1]


class OwnPlaces(SphinxTransform):
    """Chapters have the same names for their headings; Sphinx, at 850, wants labels to be unique."""

    default_priority = 840

    def apply(self, **kwargs):
        self.document.own_places = explicit(self.document)
        for name in self.document.own_places:
            self.document.nametypes[name] = None


class FoundPlaces(SphinxTransform):
    """Links within a chapter, which MyST looks for at 879, do find them."""

    default_priority = 860

    def apply(self, **kwargs):
        for name in self.document.own_places:
            self.document.nametypes[name] = True


def explicit(document) -> list[str]:
    """The names that were given by hand, not made from a title."""
    return [name for name, by_hand in document.nametypes.items() if by_hand]


def counterparts(language: str, other: str) -> dict[str, str]:
    """The page of the other language, for each of this one."""
    theirs = {chapter.number: chapter.name for chapter in chapters(other)}
    ours = {each.name: theirs[each.number] for each in chapters(language) if each.number in theirs}
    return {name: name for name in ("index", "api", "search")} | ours


def add_links(app, page, template, context, doctree):
    other = context["other_language"]
    there = counterparts(app.config.language, other).get(page, "index")
    context["other_page"] = f"../{other}/{there}.html"
    names = {chapter.name for chapter in chapters(app.config.language)}
    context["notebook"] = f"{page}.ipynb" if page in names else None


def write_files(app, error):
    if error:
        return
    out, language = Path(app.outdir), app.config.language
    (out / "words.html").write_text(words_page(language), "utf-8")
    for chapter in chapters(language):
        (out / f"{chapter.name}.ipynb").write_text(notebook(chapter), "utf-8")


def setup(app):
    app.add_transform(CoreMark)
    app.add_transform(NamedPlaces)
    app.add_transform(OwnPlaces)
    app.add_transform(FoundPlaces)
    app.connect("html-page-context", add_links)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True}
