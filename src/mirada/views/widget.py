"""The Words page as a notebook widget: `mirada.Words()`.

Whatever is dragged on the page can be read here, and whatever is set here moves on the page.
"""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

try:
    import anywidget
    import traitlets
except ImportError as missing:
    raise ImportError(
        f'mirada.Words needs "{missing.name}", which is not installed: pip install "mirada[notebook]"',
        name=missing.name,
    ) from None

from mirada.catalogue import LANGUAGES, Language, from_locale, say
from mirada.views.files import write_text
from mirada.views.page import read_built, words_page
from mirada.views.scene import Scene
from mirada.views.words import Vector, WordsState, check_vector, start, start_own

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")


class Vectors(Sequence[Vector]):
    """The vectors of one kind, a pair for each word. Setting one moves it on the page."""

    def __init__(self, widget: "Words", part: str):
        self._widget = widget
        self._part = part

    def _all(self) -> tuple[Vector, ...]:
        return getattr(self._widget._now, self._part)

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Vector]:
        return iter(self._all())

    def __getitem__(self, index: Any) -> Any:
        try:
            return self._all()[index]
        except IndexError:
            raise IndexError(f"there is no word {index} among {len(self)} words") from None

    def __setitem__(self, index: int, vector: Sequence[float]) -> None:
        """ValueError for anything but two numbers in the plane, IndexError for a word that is not there."""
        self[operator.index(index)]  # is there one?
        vectors = list(self)
        vectors[index] = check_vector(f"{self._part}[{index}]", vector)
        self._widget._set(**{self._part: vectors})

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, Vectors) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"{self._part}: " + ", ".join(
            f"{word} {vector}" for word, vector in zip(self._widget.words, self._all(), strict=True)
        )


class Setting(Generic[T]):
    """One field of the widget's state, to be read and set."""

    def __init__(self, doc: str):
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, widget: None, owner: type) -> Self: ...
    @overload
    def __get__(self, widget: "Words", owner: type) -> T: ...
    def __get__(self, widget: "Words | None", owner: type) -> Self | T:
        return self if widget is None else self.read(widget)

    def __set__(self, widget: "Words", value: Any) -> None:
        widget._set(**{self.name: value})

    def read(self, widget: "Words") -> Any:
        return getattr(widget._now, self.name)


class Part(Setting["Vectors"]):
    """The vectors of one kind, of all words at once or one by one."""

    def read(self, widget: "Words") -> "Vectors":
        return Vectors(widget, self.name)


class Words(anywidget.AnyWidget):
    """Whom does each word look at? Seven words whose vectors can be dragged, and read and set from here.

        w = mirada.Words(language="es")
        w.query[6] = (1, 2)      # the query of the seventh word
        w.weights[6]             # how much it looks at each one

    A notebook that is opened again shows the page once its cell has run; JupyterLab keeps the page with
    Settings > Save Widget State Automatically.

    Args:
        sentence: "money" or "seat", the two sentences with the word banco (bank).
        language: "es" or "en"; None takes the locale's.
        words: 2 to 12 words of one's own, instead of `sentence`.

    Raises:
        ValueError: an unknown sentence or language, or words that cannot be used.
        BundleMissing: the page has not been built.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    # The wire: a WordsState as JSON, and the language of the page.
    state = traitlets.Dict().tag(sync=True)
    language = traitlets.Enum(LANGUAGES).tag(sync=True)

    def __init__(
        self,
        sentence: str = "money",
        language: Language | None = None,
        *,
        words: Sequence[str] | None = None,
    ):
        if language is None:
            language = from_locale(*(environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")))
        if language not in LANGUAGES:
            raise ValueError(f"language is {language!r}; expected one of {', '.join(LANGUAGES)}")
        state = start(sentence, language) if words is None else start_own(words)
        super().__init__(
            _esm=read_built("widget.js"),
            _css=read_built("words.css"),
            state=state.to_dict(),
            language=language,
        )

    # What can be read and set. A bad value is a ValueError, and nothing changes.

    query = Part("A pair of numbers for each word, from -2.5 to 2.5: `w.query[6] = (1, 2)`.")
    key = Part("The same, for the keys.")
    value = Part("The same, for the values: what a word gives to whoever looks at it.")
    chosen = Setting[int]("The position of the word that looks.")
    pinned = Setting[int | None]("The position whose sum is shown; None: the one most looked at.")
    temperature = Setting[float]("From 0.1 (focuses) to 10 (spreads).")
    causal = Setting[bool]("Whether nobody looks ahead.")

    @property
    def words(self) -> tuple[str, ...]:
        """The sentence. Setting it starts one of your own; temperature and mask stay."""
        return self._now.words

    @words.setter
    def words(self, words: Sequence[str]) -> None:
        self._show(replace(start_own(words), temperature=self.temperature, causal=self.causal))

    @property
    def sentence(self) -> str:
        """Which sentence: "money", "seat" or, with words of your own, "own"."""
        return self._now.sentence

    @sentence.setter
    def sentence(self, sentence: str) -> None:
        self._show(self._now.carried(sentence, self._language))

    # What follows from it.

    @property
    def scene(self) -> Scene:
        return Scene.from_dict(self._now.to_scene())

    @property
    def weights(self) -> "Tensor":
        """How much each word looks at each one: (words, words), float64, from `mirada.attention_weights`."""
        return self.scene.weights()

    @property
    def output(self) -> "Tensor":
        """What each word takes with it: (words, 2), float64, from `mirada.attention`."""
        return self.scene.output()

    def reset(self) -> None:
        """Back to where this sentence started."""
        state = self._now
        self._show(
            start_own(state.words) if state.sentence == "own" else start(state.sentence, self._language)
        )

    def to_html(self) -> str:
        """This moment as one HTML document that needs no network, no kernel and no server."""
        return words_page(self._language, state=self.state)

    def save(self, path: str | Path) -> None:
        """Write `to_html()` to a file, replacing what is there. Raises OSError."""
        write_text(Path(path), self.to_html())

    # The wire.

    @traitlets.validate("state")
    def _check_state(self, proposal: Any) -> dict[str, Any]:
        try:
            return WordsState.from_dict(proposal["value"]).to_dict()
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    @traitlets.observe("language")
    def _translate(self, _: Any) -> None:
        state = self._now
        if state.sentence != "own":
            self._show(state.carried(state.sentence, self._language))

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page sends: a state, a language, nothing else.

        What makes no sense changes nothing here, and the page is sent ours again.
        """
        wanted = {name: sync_data[name] for name in ("state", "language") if name in sync_data}
        try:
            if "state" in wanted:
                wanted["state"] = WordsState.from_dict(wanted["state"]).to_dict()
            if wanted.get("language", LANGUAGES[0]) not in LANGUAGES:
                raise ValueError
        except ValueError:
            self.send_state(list(wanted))
        else:
            super().set_state(wanted)

    @property
    def _now(self) -> WordsState:
        return WordsState.from_dict(self.state)

    @property
    def _language(self) -> Language:
        return next(each for each in LANGUAGES if each == self.language)

    def _show(self, state: WordsState) -> None:
        self.state = state.to_dict()

    def _set(self, **changes: Any) -> None:
        self._show(replace(self._now, **changes))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The live widget, and where no widget can run, this moment as a page in a frame of its own."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        page = words_page(self._language, state=self.state, host="widget")
        frame = (
            f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts allow-downloads"'
            f' title="{escape(say("page.title", self._language))}"'
            ' style="width:100%;height:46rem;border:0">'
            # What stays of a frame where a notebook of somebody else's is not trusted.
            f"{escape(say('page.run_cell', self._language))}</iframe>"
        )
        return {**data, "text/html": frame}, metadata

    def __repr__(self) -> str:
        state = self._now
        return f"<mirada.Words {' '.join(state.words)!r}, chosen={state.chosen}>"
