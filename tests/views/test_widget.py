"""The notebook widget: read and set from Python, its messages both ways, its page without a kernel."""

import re
import subprocess
import sys
from html import unescape

import comm
import pytest
import torch
import traitlets

import mirada
from mirada.views.page import read_built, words_page
from mirada.views.words import PARTS, start, start_own


class FakeComm(comm.base_comm.BaseComm):
    """The line to the page, both ends in hand: what Python sent, and a way to send what the page would."""

    opened: list["FakeComm"]

    def __init__(self, *_, data=None, **__):
        self._msg_callback = None
        self.data = data
        self.sent = []
        self.comm_id = f"line {len(FakeComm.opened)}"
        FakeComm.opened.append(self)

    def publish_msg(self, *_, **__): ...
    def open(self, *_, **__): ...
    def close(self, *_, **__): ...

    def send(self, data=None, metadata=None, buffers=None):
        self.sent.append(data)

    def page_sends(self, **state):
        """What the page sends after `model.set(…); model.save_changes()`."""
        self.handle_msg(
            {"content": {"data": {"method": "update", "state": state, "buffer_paths": []}}, "buffers": []}
        )

    def updates(self):
        """What the page would have been told to change."""
        return [m["state"] for m in self.sent if m["method"] == "update"]


@pytest.fixture(autouse=True)
def line(monkeypatch):
    """Gives the line of the latest widget."""
    FakeComm.opened = []
    monkeypatch.setattr(comm, "create_comm", FakeComm)
    return lambda: FakeComm.opened[-1]


def test_the_page_is_told_everything_when_it_opens(line):
    mirada.Words(language="en")
    told = line().data["state"]
    assert told["state"] == start("money", "en").to_dict()
    assert told["language"] == "en"
    assert told["_esm"] == read_built("widget.js")
    assert told["_css"] == read_built("words.css")
    assert "export" in told["_esm"]


def test_without_a_language_it_takes_the_locales(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert mirada.Words().language == "en"
    monkeypatch.setenv("LANG", "es_PE.UTF-8")
    assert mirada.Words().words[6] == "banco"


def test_what_is_set_here_moves_there(line):
    widget = mirada.Words(language="es")
    widget.query[6] = (1, 2)
    assert widget.query[6] == (1.0, 2.0)
    (update,) = line().updates()
    assert update["state"] == {**start().to_dict(), "query": [*start().to_dict()["query"][:6], [1, 2]]}


def test_what_is_moved_there_is_read_here(line):
    widget = mirada.Words(language="es")
    moved = {**start().to_dict(), "chosen": 2, "pinned": 0, "temperature": 0.5, "causal": True}
    moved["key"] = [[-0.5, 2.5]] * 7
    line().page_sends(state=moved, language="es")
    assert (widget.chosen, widget.pinned, widget.temperature, widget.causal) == (2, 0, 0.5, True)
    assert list(widget.key) == [(-0.5, 2.5)] * 7
    assert widget.weights[2].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0, 0, 0])
    assert line().updates() == []  # the page knows already


BAD_MESSAGES = [
    {"state": None},
    {"state": []},
    {"state": {}},
    {"state": {**start().to_dict(), "temperature": 0}},
    {"state": {**start().to_dict(), "chosen": 7}},
    {"state": {**start().to_dict(), "query": [["</script>", 0]] * 7}},
    {"state": {**start().to_dict(), "words": ["a", "b"]}},
    {"state": {**start().to_dict(), "__class__": "x"}},
    {"language": "fr"},
    {"language": ["es"]},
    {"state": {**start().to_dict(), "chosen": 1}, "language": "fr"},
]


@pytest.mark.parametrize("message", BAD_MESSAGES, ids=range(len(BAD_MESSAGES)))
def test_a_message_that_makes_no_sense_changes_nothing_and_is_put_right(line, message):
    widget = mirada.Words(language="es")
    widget.query[6] = (1, 2)
    before = widget.state
    line().sent.clear()
    line().page_sends(**message)
    assert widget.state == before
    assert widget.language == "es"
    assert line().updates() == [{name: {"state": before, "language": "es"}[name] for name in message}]


def test_the_page_cannot_change_what_is_not_its_own(line):
    widget = mirada.Words(language="es")
    esm = widget._esm
    line().page_sends(_esm="alert(1)", _model_name="X", layout="y", state={**start().to_dict(), "chosen": 3})
    assert widget._esm == esm
    assert widget._model_name == "AnyModel"
    assert widget.chosen == 3


def test_the_language_is_switched_from_either_end(line):
    widget = mirada.Words("seat", "es")
    widget.query[5] = (1, 2)  # banco
    widget.language = "en"
    assert widget.words == start("seat", "en").words
    assert widget.query[5] == (1, 2)
    assert line().updates()[-1]["state"] == widget.state
    line().sent.clear()
    line().page_sends(state=start("money", "es").to_dict(), language="es")
    assert (widget.language, widget.words[6]) == ("es", "banco")
    assert line().updates() == []
    with pytest.raises(traitlets.TraitError):
        set_("language", "fr")(widget)
    assert widget.language == "es"


def test_two_widgets_are_two(line):
    one, first = mirada.Words(language="es"), line()
    two, second = mirada.Words(language="es"), line()
    one.query[0] = (0, 0)
    assert two.query[0] == start().query[0]
    assert (len(first.updates()), len(second.updates())) == (1, 0)


@pytest.mark.parametrize("part", PARTS)
def test_vectors_are_set_one_by_one_or_all_at_once(part):
    widget = mirada.Words(language="es")
    vectors = getattr(widget, part)
    vectors[-1] = torch.tensor([0.5, -0.5])
    assert getattr(widget, part)[6] == (0.5, -0.5)
    assert vectors[6] == (0.5, -0.5)  # a view, not a copy
    setattr(widget, part, torch.eye(7)[:, :2])
    assert list(vectors) == [(1, 0), (0, 1), *[(0, 0)] * 5]
    assert vectors == getattr(widget, part)
    assert len(vectors) == 7
    assert vectors[1:3] == ((0, 1), (0, 0))
    assert torch.tensor(vectors).shape == (7, 2)
    assert repr(vectors).startswith(f"{part}: Ana (1.0, 0.0), guardó")


def set_(name, value):
    return lambda w: setattr(w, name, value)


def put(part, index, value):
    return lambda w: getattr(w, part).__setitem__(index, value)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (put("query", 6, (1, 3)), ValueError, r"query\[6\] is 3; expected a number from -2.5 to 2.5"),
        (put("key", 0, (float("nan"), 1)), ValueError, r"key\[0\] is nan"),
        (put("value", 0, "ab"), ValueError, r"value\[0\] is 'ab'; expected two numbers"),
        (put("value", 0, 1), ValueError, "expected two numbers"),
        (put("query", 7, (1, 2)), IndexError, "no word 7 among 7 words"),
        (put("query", -8, (1, 2)), IndexError, "no word -8 among 7 words"),
        (lambda widget: widget.value[7], IndexError, "no word 7 among 7 words"),
        (put("query", slice(0, 2), [(1, 2)] * 2), TypeError, "integer"),
        (set_("key", [(1, 2)]), ValueError, "expected 7 vectors"),
        (set_("chosen", 7), ValueError, "from 0 to 6"),
        (set_("pinned", "plata"), ValueError, "pinned is 'plata'"),
        (set_("temperature", 0), ValueError, "from 0.1 to 10"),
        (set_("causal", None), ValueError, "True or False"),
        (set_("sentence", "own"), ValueError, "expected 'money' or 'seat'"),
        (set_("words", ["solo"]), ValueError, "2 to 12"),
        (set_("words", "two words"), ValueError, "expected a list of words"),
        (set_("state", {}), traitlets.TraitError, "lacks"),
        (set_("language", "fr"), traitlets.TraitError, "language"),
    ],
)
def test_a_bad_value_is_an_error_and_changes_nothing(line, change, error, said):
    widget = mirada.Words(language="es")
    with pytest.raises(error, match=said):
        change(widget)
    assert widget.state == start().to_dict()
    assert line().updates() == []


def test_weights_and_output_are_the_librarys():
    widget = mirada.Words(language="es")
    assert widget.weights.dtype == torch.float64
    assert [round(100 * w) for w in widget.weights[6].tolist()] == [2, 2, 3, 61, 2, 1, 28]
    assert widget.output[6].tolist() == pytest.approx([1.56, 0.34], abs=0.005)
    assert torch.equal(widget.weights, widget.scene.weights())
    widget.temperature, widget.causal = 10, True
    query, key, value = (torch.tensor(getattr(widget, part), dtype=torch.float64) for part in PARTS)
    expected = mirada.attention_weights(query, key, mirada.Mask.causal(), temperature=10)
    assert torch.allclose(widget.weights, expected, rtol=0, atol=1e-15)
    expected = mirada.attention(query, key, value, mirada.Mask.causal(), temperature=10)
    assert torch.allclose(widget.output, expected, rtol=0, atol=1e-15)


def test_the_other_sentence_takes_what_it_shares_along():
    widget = mirada.Words(language="es")
    assert widget.sentence == "money"
    widget.key[6] = (0, 0)
    widget.temperature = 2
    widget.sentence = "seat"
    assert widget.words[5] == "banco"
    assert widget.key[5] == (0, 0)
    assert (widget.sentence, widget.temperature, widget.chosen) == ("seat", 2, 5)


def test_words_of_ones_own():
    widget = mirada.Words(words=["</script><b>", "مرحبا", "x" * 300])
    assert widget.sentence == "own"
    assert widget.state == start_own(["</script><b>", "مرحبا", "x" * 300]).to_dict()
    widget.causal = True
    widget.words = ["a", "b"]
    assert (widget.words, widget.causal, widget.chosen) == (("a", "b"), True, 1)
    before = widget.state
    set_("language", {"es": "en", "en": "es"}[widget.language])(widget)
    assert widget.state == before


def test_reset_goes_back_to_where_this_sentence_started():
    widget = mirada.Words("seat", "en")
    widget.query[0], widget.temperature, widget.chosen = (0, 0), 3, 1
    widget.reset()
    assert widget.state == start("seat", "en").to_dict()
    widget.words = ["a", "b", "c"]
    widget.key[0] = (0, 0)
    widget.reset()
    assert widget.state == start_own(["a", "b", "c"]).to_dict()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"language": "fr"}, "language is 'fr'; expected one of es, en"),
        ({"sentence": "river"}, "sentence is 'river'"),
        ({"words": []}, "has 0 of them"),
        ({"words": ["a"] * 13}, "has 13 of them"),
    ],
)
def test_what_it_cannot_start_with_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        mirada.Words(**given)


def test_where_no_widget_can_run_this_moment_stands_in_a_frame_of_its_own():
    widget = mirada.Words(words=["</iframe><b>", "'\"&amp;"], language="en")
    widget.query[0] = (1, 2)
    data, metadata = widget._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert metadata == {}
    frame = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="([^"]*)" title="[^"]+" style="[^"]+">([^<]*)</iframe>',
        data["text/html"],
    )
    assert frame
    assert unescape(frame[1]) == words_page(widget.language, state=widget.state, host="widget")
    assert frame[2].split() == ["allow-scripts", "allow-downloads"]
    assert "</iframe>" not in frame[1]
    # What JupyterLab and GitHub leave of a frame that they do not trust.
    assert frame[3] == "Run this cell to see the page here."


def test_it_can_be_kept_as_a_file(tmp_path):
    widget = mirada.Words(language="en")
    widget.chosen = 3
    widget.save(tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_text("utf-8") == widget.to_html()
    assert '"chosen":3' in widget.to_html()
    with pytest.raises(FileNotFoundError):
        widget.save(tmp_path / "nowhere" / "mine.html")


def test_it_says_what_it_is():
    assert repr(mirada.Words(language="es")) == "<mirada.Words 'Ana guardó la plata en el banco', chosen=6>"


def test_without_the_extra_it_says_what_to_install():
    script = "import sys; sys.modules['anywidget'] = None; import mirada; mirada.Words"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        'ImportError: mirada.Words needs "anywidget", which is not installed: pip install "mirada[notebook]"'
    )


def test_making_one_needs_no_torch():
    script = (
        "import sys, mirada; mirada.Words(language='es').query[6] = (1, 2); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
