"""How the lesson's site is built. `build.py` says which language, and whether its code is run."""

import os
import sys
from pathlib import Path

from mirada import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from words import WORDS  # noqa: E402

language = os.environ["LESSON_LANGUAGE"]
other = {"en": "es", "es": "en"}[language]
project = WORDS[language]["project"]
author = copyright = "Mirada"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "marks",
    "mathematics",
    "places",
    "reference",
]
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["README.md"]

# Without MathJax: formulas are MathML, which browsers draw themselves.
html_math_renderer = "mathml"
default_role = "code"  # in docstrings
myst_enable_extensions = ["colon_fence", "dollarmath", "smartquotes"]
myst_links_external_new_tab = False
suppress_warnings: list[str] = []
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types are written as they are read, not as links

nb_execution_mode = "force" if os.environ.get("LESSON_RUN") == "1" else "off"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True
nb_output_stderr = "warn"  # and warnings stop the build
nb_merge_streams = True
nb_ipywidgets_js = {}  # they would come from another host, and the Words page needs none

autodoc_typehints = "none"  # the signature has them
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes are told once, in their class

html_theme = "furo"
html_title = WORDS[language]["project"]
html_static_path = ["static"]
templates_path = ["templates"]
html_favicon = "static/icon.svg"
html_css_files = ["mirada.css"]
html_js_files = [("place.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it fetches each page found, which a browser refuses for files on disk
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/switch.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_context = {"words": WORDS[language], "other_language": other}
html_theme_options = {
    "light_css_variables": {},
    "dark_css_variables": {},
}
pygments_style = "styles.Light"
pygments_dark_style = "styles.Dark"
copybutton_selector = "div.highlight-ipython3 pre, div.highlight-python pre, div.highlight-sh pre"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
