"""Reading the chapters: Markdown with code cells, as MyST-NB writes them.

Only what the lesson uses is understood, so that nothing has to be installed: `lesson/README.md` lists it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mirada.catalogue import Language

FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
CODE = re.compile(
    r"^```\{code-cell\} ipython3\n(?P<options>---\n.*?\n---\n|(?::[^\n]*\n)*)(?P<source>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
TAGS = re.compile(r"^:?tags: *\[(.*)\]$", re.MULTILINE)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Prose:
    text: str


@dataclass(frozen=True)
class Code:
    source: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Chapter:
    path: Path
    language: Language

    @property
    def name(self) -> str:
        """Of its file, without the ending: "02-dictionary"."""
        return self.path.stem

    @property
    def number(self) -> int:
        return int(self.name[:2])

    @cached_property
    def text(self) -> str:
        return FRONT_MATTER.sub("", self.path.read_text("utf-8"))

    @cached_property
    def title(self) -> str:
        found = TITLE.search(self.text)
        assert found, f"{self.path} has no title"
        return found[1]

    @cached_property
    def pieces(self) -> tuple[Prose | Code, ...]:
        """Prose and code cells, in their order."""
        return tuple(read(self.text))


def read(text: str) -> Iterator[Prose | Code]:
    end = 0
    for cell in CODE.finditer(text):
        if prose := text[end : cell.start()].strip():
            yield Prose(prose)
        tags = TAGS.search(cell["options"])
        names = tuple(name.strip() for name in tags[1].split(",")) if tags else ()
        yield Code(cell["source"].strip(), names)
        end = cell.end()
    if prose := text[end:].strip():
        yield Prose(prose)


HERE = Path(__file__).parent
ROOT = HERE.parents[2]  # of the repository, where this was not installed from a wheel


def folder(language: Language) -> Path:
    """Where the chapters of a language lie: in the wheel beside this file, else in the repository."""
    carried = HERE / language
    return carried if carried.is_dir() else ROOT / "lesson" / language


def chapters(language: Language) -> list[Chapter]:
    """All chapters of a language, in their order."""
    return [Chapter(path, language) for path in sorted(folder(language).glob("[0-9][0-9]-*.md"))]


def site(language: Language) -> Path | None:
    """The first page of the site, where `make site` has built it in this repository."""
    page = ROOT / "build" / "site" / language / "index.html"
    return page if folder(language).is_relative_to(ROOT / "lesson") and page.is_file() else None
