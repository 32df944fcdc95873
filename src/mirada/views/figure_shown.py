"""A figure as a notebook or a web page shows it: sharp at any size, and told to those who cannot see it."""

import io
from base64 import b64encode
from html import escape

import matplotlib
from matplotlib.figure import Figure

from mirada.views.figure_text import quiet, written


class Picture(Figure):
    """A figure whose label is its text alternative."""

    def told(self, alternative: str) -> "Picture":
        """Gives it its alternative, and itself back."""
        self.set_label(written(alternative))
        return self

    def _repr_html_(self) -> str:
        """An image with its alternative, which asks nothing of any host and brings no names into the page.

        Its letters are drawn: an image has no fonts but the reader's, which may be wider.
        """
        file = io.BytesIO()
        with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "mirada"}), quiet():
            self.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.05)
        source = "data:image/svg+xml;base64," + b64encode(file.getvalue()).decode()
        style = "max-width: 100%; height: auto"
        return f'<img alt="{escape(str(self.get_label()))}" src="{source}" style="{style}">'
