"""The state of the Words page in Python: equal to the page's own, and strict about what it takes."""

import json
import math
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mirada.catalogue import LANGUAGES
from mirada.views.scene import Scene
from mirada.views.words import GIVEN, MOST, PARTS, WordsState, start, start_own

FRONTEND = Path(__file__).parents[2] / "frontend"

# What the page's own code answers: the starts, words of one's own, and what is carried from one to another.
ASK = """
import { build } from "esbuild";
const source = `
  import { start, startOwn, reduce, sceneOf } from "./src/words/state";
  const out = { starts: {}, own: {}, carried: [], scene: sceneOf(start("money", "es")) };
  const moved = (s) => ({ ...s, query: s.query.map((v, i) => [i / 10, -i / 10 || 0]), chosen: 1, pinned: 2,
    temperature: 3, causal: true });
  for (const language of ["es", "en"]) for (const sentence of ["money", "seat"]) {
    out.starts[sentence + language] = start(sentence, language);
    const from = moved(start(sentence, language));
    for (const other of ["es", "en"]) for (const id of ["money", "seat"])
      if (id === sentence || other === language) {
        const action = id === sentence ? { type: "language", language: other } : { type: "sentence", id };
        out.carried.push({ from, id, language: other, to: reduce(from, action, language) });
      }
  }
  for (let n = 2; n <= 12; n++) out.own[n] = startOwn(Array.from({ length: n }, (_, i) => "w" + i));
  const own = moved(out.own[5]);
  const to = reduce(own, { type: "sentence", id: "seat" }, "en");
  out.carried.push({ from: own, id: "seat", language: "en", to });
  console.log(JSON.stringify(out));
`;
const stdin = { contents: source, resolveDir: process.cwd(), loader: "ts" };
const { outputFiles } = await build({ stdin, bundle: true, write: false, format: "esm", logLevel: "error" });
await import("data:text/javascript;base64," + Buffer.from(outputFiles[0].text).toString("base64"));
"""


@pytest.fixture(scope="module")
def page():
    if not shutil.which("node") or not (FRONTEND / "node_modules/esbuild").is_dir():
        pytest.skip("needs Node and the front end's packages: make js")
    command = ["node", "--input-type=module", "--eval", ASK]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sentence", GIVEN)
def test_both_sentences_start_as_on_the_page(page, sentence, language):
    assert start(sentence, language).to_dict() == page["starts"][sentence + language]


@pytest.mark.parametrize("count", range(2, MOST + 1))
def test_words_of_ones_own_start_as_on_the_page(page, count):
    assert start_own([f"w{i}" for i in range(count)]).to_dict() == page["own"][str(count)]


def test_what_is_moved_is_carried_along_as_on_the_page(page):
    assert len(page["carried"]) == 13
    for case in page["carried"]:
        carried = WordsState.from_dict(case["from"]).carried(case["id"], case["language"])
        assert carried.to_dict() == case["to"]


def test_the_scene_is_the_pages(page):
    assert Scene.from_dict(start("money", "es").to_scene()) == Scene.from_dict(page["scene"])


def test_a_state_survives_json():
    state = replace(start("seat", "en"), pinned=3, temperature=0.7, causal=True)
    assert WordsState.from_dict(json.loads(json.dumps(state.to_dict()))) == state


def changed(**changes):
    return {**start("money", "es").to_dict(), **changes}


def with_vector(vector):
    return changed(query=[*start().to_dict()["query"][:-1], vector])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "a state is a mapping, got list"),
        ({}, "lacks causal, chosen"),
        (changed(colour="coral"), "unknown fields: colour"),
        (changed(sentence="river"), "sentence is 'river'"),
        (changed(sentence=["money"]), "sentence is"),
        (changed(words="Ana guardó"), "expected a list of words"),
        (changed(words=["Ana"]), "not the sentence 'money' in any language"),
        (changed(words=["Ana", "kept", "la", "plata", "en", "el", "banco"]), "not the sentence"),
        (changed(sentence="own", words=["solo"]), "has 1 of them; expected 2 to 12"),
        (changed(sentence="own", words=["w"] * 13), "has 13 of them"),
        (changed(sentence="own", words=["a", ""]), "expected something to see, without spaces"),
        (changed(sentence="own", words=["a", "b c"]), "expected something to see, without spaces"),
        (changed(sentence="own", words=["a", "b\u00a0c"]), "expected something to see, without spaces"),
        (changed(sentence="own", words=["a", "b\n"]), "expected something to see, without spaces"),
        (changed(sentence="own", words=["a", "b\0"]), "expected something to see"),
        (changed(sentence="own", words=["a", "\u200b\u0301"]), "expected something to see"),
        (changed(sentence="own", words=["a", 7]), "holds 7"),
        (changed(sentence="own", words=["a", "\ud83d"]), "expected something to see"),
        (changed(sentence="own", words=["a", "b"], chosen=0), "expected 2 vectors"),
        (changed(query=[[0, 0]] * 6), "expected 7 vectors"),
        (changed(key=7), "expected 7 vectors"),
        (changed(value="abcdefg"), "expected 7 vectors"),
        (with_vector([0]), r"query\[6\] is \[0\]; expected two numbers"),
        (with_vector([0, 0, 0]), "expected two numbers"),
        (with_vector("ab"), "expected two numbers"),
        (with_vector(None), "expected two numbers"),
        (with_vector([0, "1"]), r"query\[6\] is '1'; expected a number from -2.5 to 2.5"),
        (with_vector([0, True]), "expected a number"),
        (with_vector([0, None]), "expected a number"),
        (with_vector([0, math.nan]), "query.6. is nan"),
        (with_vector([0, 2.6]), "from -2.5 to 2.5"),
        (with_vector([-2.51, 0]), "from -2.5 to 2.5"),
        (with_vector([0, 10**400]), "from -2.5 to 2.5"),
        (changed(chosen=7), "chosen is 7; expected the position of a word, from 0 to 6"),
        (changed(chosen=-1), "chosen is -1"),
        (changed(chosen=1.0), "chosen is 1.0"),
        (changed(chosen=True), "chosen is True"),
        (changed(chosen=None), "chosen is None"),
        (changed(pinned=7), "pinned is 7"),
        (changed(temperature=0), "temperature is 0; expected a number from 0.1 to 10"),
        (changed(temperature=10.1), "from 0.1 to 10"),
        (changed(temperature=math.nan), "temperature is nan"),
        (changed(temperature="1"), "temperature is '1'"),
        (changed(causal=1), "causal is 1; expected True or False"),
    ],
)
def test_what_is_no_state_is_refused_by_name(given, said):
    with pytest.raises(ValueError, match=said):
        WordsState.from_dict(given)


def test_numbers_of_any_kind_are_kept_as_plain_ones():
    import torch

    query = torch.zeros(7, 2, dtype=torch.float64)
    query[6] = torch.tensor([1.5, -0.0])
    state = replace(start(), query=query)  # pyright: ignore[reportArgumentType]
    assert state.query[6] == (1.5, 0.0)
    assert type(state.query[6][0]) is float
    assert math.copysign(1, state.query[6][1]) == 1
    assert {type(part) for part in PARTS for part in getattr(state, part)} == {tuple}


@pytest.mark.parametrize("word", ["x" * 300, "</script><b>", "مرحبا", "😀", "‏ب", "<", "&amp;"])
def test_hostile_words_are_words(word):
    assert start_own([word, word]).words == (word, word)


def test_an_unknown_sentence_is_refused():
    with pytest.raises(ValueError, match="expected 'money' or 'seat'"):
        start("river")
