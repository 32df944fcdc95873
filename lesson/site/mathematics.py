"""Formulas as MathML, by docutils' own converter: browsers draw it, and nothing is fetched."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

log = logging.getLogger(__name__)


def draw(translator, node, block: bool) -> None:
    try:
        drawn = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        log.warning("this formula cannot be written as MathML: %s (%s)", node.astext(), error, location=node)
        raise nodes.SkipNode from None
    frame = '<div class="formula">' if block else ""
    translator.body.append(frame + drawn + ("</div>\n" if block else ""))
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda self, node: draw(self, node, False), None),
        block_renderers=(lambda self, node: draw(self, node, True), None),
    )
    return {"parallel_read_safe": True}
