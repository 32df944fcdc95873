"""What the lesson says of the hand-made words, shown through the library.

`frontend/tests/words/lesson.test.ts` shows the same of the same data file through the page's own code.
"""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mirada import Mask, attention, attention_weights

DATA = json.loads((Path(__file__).parents[2] / "src/mirada/views/words.json").read_text("utf-8"))
LANGUAGES = ["es", "en"]
FIRST = {  # whom each word looks at first, a linguist agreeing
    "money": "ana guardo, guardo ana, la plata, plata banco, en banco, el banco, banco plata",
    "seat": "ana se, se ana, sento ana, en banco, el banco, banco plaza, de plaza, la plaza, plaza banco",
}


class Sentence:
    def __init__(self, name: str, language: str):
        self.ids = [word for word, _ in DATA["sentences"][name][language]]
        self.texts = [text for _, text in DATA["sentences"][name][language]]
        self.query, self.key, self.value = (
            torch.tensor([DATA["vectors"][word][part] for word in self.ids], dtype=torch.float64)
            for part in ("query", "key", "value")
        )

    def at(self, word: str) -> int:
        return self.ids.index(word)

    def weights(self, mask: Mask | None = None, temperature: float = 1.0) -> Tensor:
        return attention_weights(self.query, self.key, mask, temperature=temperature)

    def first(self, word: str, **options) -> str:
        return self.ids[int(self.weights(**options)[self.at(word)].argmax())]


@pytest.fixture(params=LANGUAGES)
def money(request: pytest.FixtureRequest) -> Sentence:
    return Sentence("money", request.param)


def test_the_sentences():
    assert [" ".join(Sentence(name, lang).texts) for name in ("money", "seat") for lang in LANGUAGES] == [
        "Ana guardó la plata en el banco",
        "Ana kept the money in the bank",
        "Ana se sentó en el banco de la plaza",
        "Ana sat down on the bank of the river",
    ]
    assert all(set(Sentence(name, "es").ids) == set(Sentence(name, "en").ids) for name in ("money", "seat"))


def test_every_query_and_key_is_two_numbers_on_a_grid_of_a_tenth_within_the_plane():
    assert (DATA["range"], DATA["step"]) == (2.5, 0.1)
    for word in DATA["vectors"].values():
        assert set(word) == {"query", "key", "value"}
        for vector in word.values():
            assert len(vector) == 2
            assert all(abs(x) <= 2.5 and x == round(x, 1) for x in vector)


def test_banco_looks_at_plata_with_61_percent_and_then_at_itself_with_28(money: Sentence):
    weights = money.weights()[money.at("banco")]
    assert weights.argsort(descending=True)[:2].tolist() == [money.at("plata"), money.at("banco")]
    assert (100 * weights[[money.at("plata"), money.at("banco")]]).round().tolist() == [61, 28]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FIRST)
def test_each_words_first_choice_is_one_that_a_linguist_would_accept(name: str, language: str):
    sentence = Sentence(name, language)
    assert {word: sentence.first(word) for word in sentence.ids} == dict(
        pair.split() for pair in FIRST[name].split(", ")
    )


def test_with_the_causal_mask_el_moves_to_plata_and_ana_looks_at_herself(money: Sentence):
    weights = money.weights(Mask.causal())
    el = weights[money.at("el")]
    assert el[money.at("banco")] == 0
    assert int(el.argmax()) == money.at("plata")
    first, second = el.sort(descending=True).values[:2]
    assert first > 3 * second  # one clear other word
    assert weights[money.at("ana")].tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_bancos_query_can_be_dragged_to_where_it_looks_chiefly_at_ana(money: Sentence):
    money.query[money.at("banco")] = money.key[money.at("ana")]
    assert money.first("banco") == "ana"


def test_platas_key_at_the_edge_in_its_own_direction_draws_five_words_and_ana_less(money: Sentence):
    before = money.weights()[:, money.at("plata")]
    key = money.key[money.at("plata")]
    money.key[money.at("plata")] = key * (2.5 / key.abs().max())
    after = money.weights()
    assert sum(money.first(word) == "plata" for word in money.ids) >= 5
    fewer = (after[:, money.at("plata")] < before).tolist()
    assert [word for word, less in zip(money.ids, fewer, strict=True) if less] == ["ana"]


def test_the_lowest_temperature_gives_nearly_all_to_one_and_the_highest_is_never_uniform(money: Sentence):
    assert bool((money.weights(temperature=0.1).max(-1).values > 0.9).all())
    scores, weights = money.query @ money.key.T, money.weights(temperature=10)
    higher = scores[:, :, None] - scores[:, None, :] > 1e-12
    assert bool((weights[:, :, None] > weights[:, None, :])[higher].all())


@pytest.mark.parametrize("language", LANGUAGES)
def test_banco_is_the_same_in_both_sentences_and_takes_money_or_a_seat(language: str):
    outputs = []
    for name in ("money", "seat"):
        sentence = Sentence(name, language)
        here = sentence.at("banco")
        assert sentence.query[here].tolist() == [0.9, 1.9]
        assert sentence.key[here].tolist() == [2.2, -0.3]
        assert sentence.value[here].tolist() == [0.9, 0.9]
        output = attention(sentence.query, sentence.key, sentence.value)[here]
        outputs.append([round(x, 2) for x in output.tolist()])
    assert outputs == [[1.56, 0.34], [0.49, 1.65]]
