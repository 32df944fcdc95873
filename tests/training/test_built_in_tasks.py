"""Each built-in task: its data are what it says, unseen is unseen, and it reads what it shows."""

import itertools

import pytest
import torch

from mirada.models.encoder_decoder import EncoderDecoder
from mirada.training.data import fingerprints
from mirada.training.errors import TrainingError
from mirada.training.finding import BUILT_IN, find_task
from mirada.training.number_words import in_words
from mirada.training.options import options_for
from mirada.training.task import IGNORED, Batch, judge, loss
from mirada.training.tasks_decoder import Letters
from mirada.training.tasks_encoder import Reverse
from mirada.training.tasks_pairs import NumberWords


def counted(question):
    return "".join(str(question.count(digit)) for digit in question)


def added(question):
    a, b = question.rstrip("=").split("+")
    return str(int(a) + int(b))


RIGHT = {
    "reverse": lambda q: q[::-1],
    "copy": lambda q: q,
    "shift": lambda q: q[-1] + q[:-1],
    "sort": lambda q: "".join(sorted(q)),
    "count": counted,
    "addition": added,
    "reverse-seq2seq": lambda q: q[::-1],
}


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{i} veces ñu, " for i in range(700)), "utf-8")
    return path


def small(name):
    task = find_task(name)
    task.train_size, task.validation_size = 211, 37
    return task


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_are_right(name):
    task = small(name)
    batch = task.examples(53, torch.Generator().manual_seed(5))
    for i in range(53):
        question, answer = task.show(batch, i)
        assert answer == RIGHT[name](question)


@pytest.mark.parametrize("tongue", ["es", "en"])
def test_numbers_in_words_are_those_of_the_digits(tongue):
    task = NumberWords(tongue)
    batch = task.examples(211, torch.Generator().manual_seed(5))
    lengths = set()
    for i in range(211):
        question, answer = task.show(batch, i)
        assert question.split() == in_words(int(answer), tongue)
        assert not answer.startswith("0") or answer == "0"
        lengths.add(len(answer))
    assert lengths == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("name", [*BUILT_IN, "letters"])
def test_a_task_is_examined_on_what_it_never_saw_and_reads_what_it_shows(name, text):
    task = small(text if name == "letters" else name)
    train, validation = task.data(3)
    assert len(train) == 211
    assert len(validation) == 37 or name == "letters"
    assert not torch.isin(fingerprints(validation), fingerprints(train)).any()
    again = task.data(3)[1]
    assert all(map(torch.equal, validation.inputs, again.inputs))
    assert not torch.equal(task.data(4)[0].targets, train.targets)
    question, _ = task.show(validation, 0)
    read = task.read(question)[0][0].tolist()
    shown = validation.inputs[0][0].tolist()
    assert read == (shown[-32:] if name == "letters" else shown[: len(read)])


@pytest.mark.parametrize("name", [*(name for name in BUILT_IN if name != "digits"), "letters"])
def test_the_model_fits_its_task_and_answers(name, text):
    task = small(text if name == "letters" else name)
    torch.manual_seed(0)
    model = task.model(options_for(task)).eval()
    batch = task.data(0)[1][:5]
    with torch.no_grad():
        logits = task.run(model, batch)
        assert logits.shape[:-1] == batch.targets.shape
        question, _ = task.show(batch, 0)
        answer = task.answer(model, question)
        again = task.run(model, Batch(answer.inputs, answer.inputs[-1]))
    assert answer.question == (question[-32:] if name == "letters" else question)
    assert isinstance(answer.text, str)
    assert [len(names) for names in answer.tokens] == [x.shape[1] for x in answer.inputs]
    assert again.shape[:2] == answer.inputs[-1].shape
    if name != "letters":  # given its own answer, it says it again
        said = again[0].argmax(-1)
        if task.family == "decoder":
            said = said[-task.answer_length :]
            assert task.readable("".join(task.symbols[i] for i in said)) == answer.text
        elif task.family == "encoder":
            assert "".join(task.answers[i] for i in said) == answer.text
        else:
            assert task.written(said.tolist()) == answer.text


@pytest.mark.parametrize("tongue", ["es", "en"])
def test_what_fills_up_a_source_changes_nothing(tongue):
    task = NumberWords(tongue)
    torch.manual_seed(0)
    model = task.model(options_for(task)).eval()
    assert isinstance(model, EncoderDecoder)
    batch = task.examples(31, torch.Generator().manual_seed(5))
    logits = task.run(model, batch)
    for i in range(31):
        alone = batch[i : i + 1]
        source = alone.inputs[0][:, : int((alone.inputs[0] != task.padding).sum())]
        torch.testing.assert_close(logits[i : i + 1], model(source, alone.inputs[1]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("reverse", "1234", "4 symbols; 8 are expected"),
        ("reverse", "1234x678", '"x", at place 5'),
        ("reverse", "", "0 symbols"),
        ("addition", "1234+5", "not a sum of two numbers from 0 to 999"),
        ("addition", "١+٢", "not a sum"),
        ("addition", "", "not a sum"),
        ("reverse-seq2seq", "1234567", "7 symbols; 8 are expected"),
        ("numbers-es", "ciento uno mill", '"mill", at place 3'),
        ("numbers-en", "", "0 symbols"),
        ("numbers-en", "one " * 12, "12 symbols"),
    ],
)
def test_what_cannot_be_read_says_why(name, text, said):
    with pytest.raises(TrainingError, match=said):
        find_task(name).read(text)


def test_numbers_are_read_as_people_write_them():
    spanish, english = NumberWords("es"), NumberWords("en")
    assert torch.equal(spanish.read("Veintiun MIL  veintidos")[0], spanish.read("veintiún mil veintidós")[0])
    assert torch.equal(
        english.read("One hundred and twenty-one")[0], english.read("one hundred twenty one")[0]
    )
    assert find_task("addition").question(" 7+85 = ") == "007+085="


# Letters


def test_letters_are_examined_on_the_end_of_the_text(text):
    task = Letters(text, context=11)
    task.train_size = 3_001
    train, validation = task.data(0)
    letters = text.read_text("utf-8")
    cut = len(letters) * 9 // 10
    learnt, kept = letters[:cut], letters[cut:]
    for batch, part in ((train, learnt), (validation, kept)):
        assert batch.inputs[0].shape[1] == batch.targets.shape[1] == 11
        for i in itertools.islice(range(len(batch)), 100):
            window = "".join(task.symbols[j] for j in [*batch.inputs[0][i].tolist(), batch.targets[i][-1]])
            assert window in part
    assert torch.equal(train.inputs[0][:, 1:], train.targets[:, :-1])


def test_a_text_that_cannot_be_learnt_says_why(tmp_path, text):
    short = tmp_path / "short.txt"
    short.write_text("casi nada")
    with pytest.raises(TrainingError, match="has 9 letters, and a context of 64 needs at least 650"):
        Letters(short)
    short.write_text("ñ" * 649, "utf-8")
    with pytest.raises(TrainingError, match="has 649 letters"):
        Letters(short)
    (tmp_path / "latin.txt").write_bytes("señor ".encode("latin-1") * 500)
    with pytest.raises(TrainingError, match="not UTF-8 text: byte 2 "):
        Letters(tmp_path / "latin.txt")
    with pytest.raises(TrainingError, match="cannot be read"):
        Letters(tmp_path / "none.txt")
    same = tmp_path / "same.txt"
    same.write_text("a" * 5_000)
    with pytest.raises(TrainingError, match=r"repeats itself: .* more varied text"):
        Letters(same).data(0)


def test_letters_answer_without_their_text_but_do_not_learn_from_another(text):
    task = Letters(text)
    told = task.describe()
    text.write_text("otro " * 700)
    again = Letters(told["text"], told["context"], told["symbols"], told["sha256"])
    assert again.symbols == task.symbols
    assert again.read("12 veces")[0].shape == (1, 8)
    with pytest.raises(TrainingError, match="no longer the text"):
        again.data(0)
    with pytest.raises(TrainingError, match='"@", at place 1'):
        again.read("@")
    with pytest.raises(TrainingError, match="empty"):
        again.read("")


# Loss and judgement


def test_a_batch_in_which_all_is_ignored_has_no_loss_and_no_gradient():
    logits = torch.randn(3, 5, 7, requires_grad=True)  # pytorch#116349
    value = loss(logits, torch.full((3, 5), IGNORED))
    value.backward()
    assert value.item() == 0
    assert torch.equal(logits.grad, torch.zeros(3, 5, 7))


def test_loss_and_score_by_hand():
    targets = torch.tensor([[0, 1, IGNORED], [2, IGNORED, IGNORED], [1, 1, 0], [0, 0, 0]])
    said = torch.tensor([[0, 1, 2], [1, 2, 0], [1, 0, 0], [0, 0, 0]])
    logits = torch.nn.functional.one_hot(said, 3).double() * 2
    score = judge(logits, targets)
    asked = [(s, t) for s, t in zip(said.flatten(), targets.flatten(), strict=True) if t != IGNORED]
    chances = torch.tensor([2.0, 0.0, 0.0]).softmax(0)
    expected = [-chances[0 if s == t else 1].log().item() for s, t in asked]
    assert score.loss == pytest.approx(sum(expected) / 9)
    assert score.tokens == pytest.approx(7 / 9)
    assert score.sequences == pytest.approx(2 / 4)
    assert judge(logits[:, 0], targets[:, 0]).tokens == 3 / 4  # one answer a sample


def test_spaces_in_a_question_are_for_the_reader_only(text):
    for name in ("reverse", "reverse-seq2seq"):
        assert (
            find_task(name).read(" 1234 5678\n")[0].tolist() == find_task(name).read("12345678")[0].tolist()
        )

    class Spaced(Reverse):
        symbols = "ab "

    assert Spaced().read("ab ba ab")[0].tolist() == [[0, 1, 2, 1, 0, 2, 0, 1]]


def test_a_mark_at_the_beginning_of_a_text_is_no_letter(tmp_path):
    for name, mark in (("with", "\ufeff"), ("without", "")):
        (tmp_path / name).write_text(mark + "".join(f"{i} veces, " for i in range(300)), "utf-8")
    assert (
        find_task(tmp_path / "with").describe()["sha256"]
        == find_task(tmp_path / "without").describe()["sha256"]
    )
