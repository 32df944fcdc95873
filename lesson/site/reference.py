"""The reference: every public name of Mirada, from its docstring."""

import inspect

from sphinx.util.docutils import SphinxDirective

import mirada


class Reference(SphinxDirective):
    """All of `mirada.__all__`, in the order in which it is kept: layers, models, training, watching."""

    def run(self):
        lines = []
        for name in mirada.__all__[1:]:
            value = getattr(mirada, name)
            kind = "module" if inspect.ismodule(value) else "class" if inspect.isclass(value) else "function"
            where = value.__name__ if kind == "module" else f"mirada.{name}"
            lines += [f".. auto{kind}:: {where}", *(["   :members:"] if kind != "function" else []), ""]
        return self.parse_text_to_nodes("```{eval-rst}\n" + "\n".join(lines) + "\n```")


def as_written(app, what, name, value, options, lines):
    """A bar in a docstring is a bar: |i − j| is no substitution."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app):
    app.add_directive("reference", Reference)
    app.connect("autodoc-process-docstring", as_written)
    return {"parallel_read_safe": True}
