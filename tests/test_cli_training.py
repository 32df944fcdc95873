"""`mirada train`, `try` and `figure`: from nothing to an answer, in two languages, never with a traceback."""

import io
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout

import pytest

from mirada import cli

COMMAND = [sys.executable, "-m", "mirada.cli"]
SPEAKING = ("LC_ALL", "LC_MESSAGES", "LANG", "MIRADA_DEBUG")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    for name in SPEAKING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    """Runs one command in this process: its exit code, and what it said on stdout and on stderr."""

    def run(*arguments):
        code = cli.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """Where `mirada train` has learnt to reverse digits, its exit code, and what it said."""
    at, out, err = tmp_path_factory.mktemp("learnt"), io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), chdir(at), pytest.MonkeyPatch.context() as patch:
        for name in SPEAKING:
            patch.delenv(name, raising=False)
        code = cli.run(["train", "reverse", "--steps", "313"])
    return at, code, out.getvalue(), err.getvalue()


@pytest.fixture
def reversed_digits(learnt):
    """The folder of that run."""
    return str(learnt[0] / "runs/reverse")


def test_from_nothing_to_an_answer_by_typing_what_each_command_says(learnt, run, monkeypatch):
    at, code, out, err = learnt
    monkeypatch.chdir(at)
    assert (code, err) == (0, ""), "quiet where there is no terminal"
    first, second, _, following = out.splitlines()
    assert re.fullmatch(
        r"reverse: (100|99\.\d)\u202f% of the tokens and \S+\u202f% of the sequences are right, "
        r"on samples never seen before \(loss 0\.\d+, \d+(\.\d+)? s\)\.",
        first,
    )
    assert second == "The run lies in runs/reverse"
    code, out, err = run(*shlex.split(following)[1:])
    assert (code, err) == (0, "")
    question, arrow, answer = out.splitlines()[0].split()
    assert (question, arrow, answer) == ("83396940", "→", "04969338")
    last = json.loads((at / "runs/reverse/metrics.jsonl").read_text().splitlines()[-1])
    assert last["kind"] == "validation"
    assert last["tokens"] > 0.99
    assert {"loss", "tokens", "sequences"} <= set(last)


def test_whom_each_position_looks_at(run, reversed_digits):
    code, out, err = run("try", reversed_digits, "49303973")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "49303973 → 37930394"
    assert lines[2] == "Whom each position looks at in block 0, head 0 (blocks: 1, heads: 2, counted from 0):"
    assert lines[3] == " " * 7 + "4 9 3 0 3 9 7 3"
    for i, line in enumerate(lines[4:12]):
        assert line.startswith(f"  {i} {'49303973'[i]}  ")
        assert f"“{'37930394'[i]}” at position {7 - i}: " in line
        assert line[7 + 2 * (7 - i)] in "▓█", "the anti-diagonal is dark"
    assert lines[12].strip() == "░ 10\u202f%+   ▒ 30\u202f%+   ▓ 50\u202f%+   █ 75\u202f%+"
    _, spanish, _ = run("try", reversed_digits, "49303973", "--head", "1", "--lang", "es")
    assert "en el bloque 0, cabeza 1 (bloques: 1, cabezas: 2" in spanish
    assert "«3» en la posición 7: " in spanish


def test_the_strip_of_maps(run, reversed_digits, tmp_path):
    code, out, err = run("figure", reversed_digits, "--lang", "es", "--output", "maps.svg")
    assert (code, out, err) == (0, "Dibujado: maps.svg\n", "")
    svg = (tmp_path / "maps.svg").read_text()
    for text in ("paso 0", "paso 313", "cabeza 0", "cabeza 1", "mira (consulta)", "es mirada (clave)"):
        assert f">{text}<" in svg
    code, out, _ = run("figure", reversed_digits)
    assert (code, out) == (0, f"Drawn: {reversed_digits}/maps.svg\n")


def test_the_moments_shown_are_those_when_something_happens():
    import torch

    from mirada.commands.moments import telling

    maps = torch.zeros(13, 2, 5, 5)
    maps[7:, 0] = torch.linspace(0, 1, 6)[:, None, None]  # nothing, then as much at each step
    assert telling(maps, 6) == [0, 8, 9, 10, 11, 12]
    maps[:, :, torch.ones(5, 5, dtype=torch.bool).triu(1)] = torch.nan
    assert telling(maps, 6) == [0, 8, 9, 10, 11, 12]
    assert telling(maps[:4], 6) == [0, 1, 2, 3]
    assert telling(torch.zeros(9, 1, 2, 2), 6)[-1] == 8


def test_a_run_goes_on_where_it_was(run):
    run("train", "copy", "--steps", "3", "--out", "r")
    code, out, err = run("train", "--resume", "r", "--steps", "5")
    assert (code, err) == (0, "")
    assert "The run lies in r" in out
    code, _, err = run("train", "--resume", "r", "--d-model", "64")
    assert code == 1
    assert err.startswith("This run has d_model = 32")


# What may be wrong, what the sentence begins with, and the exit code.
MISTAKES = [
    (["train"], 2, "Say what is to be learnt (reverse, copy"),
    (["train", "--out", "a", "--resume", "b"], 2, "A run that goes on stays in its folder"),
    (["train", "revers"], 1, 'There is no task "revers". Did you mean reverse?'),
    (["train", "reverse", "--steps", "many"], 2, 'The value "many" is not valid for --steps'),
    (["train", "reverse", "--lr", "nan"], 2, 'The value "nan" is not valid for --lr'),
    (["train", "reverse", "--seed", "-1"], 2, 'The value "-1" is not valid for --seed'),
    (["train", "reverse", "--heads", "5"], 1, "A width of 32 cannot"),
    (["train", "reverse", "--device", "cuda:99"], 1, 'The device "cuda:99" cannot be used here'),
    (["train", "reverse", "--out", "no/such/folder"], 1, 'The folder "no/such" does not exist'),
    (["train", "addition", "--causal"], 1, 'The task "addition" has a decoder'),
    (["train", "missing.py"], 1, '"/'),
    (["train", "--resume", "nowhere"], 1, 'There is no run in "nowhere"'),
    (["train", "reverse", "copy"], 2, '"images", and it alone, takes a folder'),
    (["figure", "a", "b"], 2, "The command does not know what to do with: b"),
    (["try", "nowhere", "1"], 1, 'There is no run in "nowhere"'),
    (["try"], 2, "Something is missing: DIR."),
    (["figure", "nowhere"], 1, 'There is no run in "nowhere"'),
]


@pytest.mark.parametrize(
    ("arguments", "code", "begins"), MISTAKES, ids=lambda x: " ".join(x) if isinstance(x, list) else ""
)
def test_mistakes_are_sentences(run, arguments, code, begins):
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert err.startswith(begins)
    assert "Traceback" not in err
    found, _, spanish = run(*arguments, "--lang", "es")
    assert found == code
    assert spanish != err
    assert "Traceback" not in spanish


def test_mistakes_with_a_run_are_sentences(run, reversed_digits, tmp_path):
    for arguments, begins in (
        (["try", reversed_digits, "4930"], "The question has 4 symbols"),
        (["try", reversed_digits, "4930397x"], '"x", at place 8, is not a symbol'),
        (
            ["try", reversed_digits, "49303973", "--head", "2"],
            "--head 2 is not there: they are counted from 0, and 1 is the last.",
        ),
        (
            ["try", reversed_digits, "49303973", "--block", "1"],
            "--block 1 is not there: they are counted from 0, and 0 is the last.",
        ),
        (["figure", reversed_digits, "--output", "a.gif"], '"a.gif" cannot be drawn'),
        (["figure", reversed_digits, "--output", "no/a.svg"], 'The folder "no" does not exist'),
        (["train", "reverse", "--out", reversed_digits], f'"{reversed_digits}" is not an empty folder'),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (1, "")
        assert err.replace("“", '"').replace("”", '"').startswith(begins)
    run("train", "copy", "--steps", "1", "--out", "bare")
    (tmp_path / "bare/maps.safetensors").unlink()
    assert run("figure", "bare")[::2] == (
        1,
        "The run in “bare” has no maps: it was trained with snapshots_every=0.\n",
    )


def test_the_next_command_can_be_pasted_whatever_the_folder_is_called(run, tmp_path):
    for name in ("-x", "two words", "it's"):
        code, out, _ = run("train", "copy", "--steps", "1", f"--out={name}")
        assert code == 0
        code, out, err = run(*shlex.split(out.splitlines()[-1])[1:])
        assert (code, err) == (0, "")
        assert out.startswith("83396940 → ")


def test_a_run_that_is_done_is_told_though_its_text_is_gone(run, tmp_path, monkeypatch):
    from mirada.training.tasks_encoder import Copy

    monkeypatch.setattr(Copy, "show", lambda *_: 1 / 0)
    code, out, err = run("train", "copy", "--steps", "1")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "The run lies in runs/copy"


def test_terminals_that_lack_letters_get_others(reversed_digits, monkeypatch):
    encoding = "latin-1"  # where there is only ASCII, click writes UTF-8 all the same
    terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert cli.run(["try", reversed_digits, "49303973"]) == 0
    terminal.flush()
    said = terminal.buffer.getvalue().decode(encoding)
    assert said.startswith("49303973 -> 37930394")
    assert "?" not in said
    assert '"3" at position 7: ' in said
    assert " #" in said


def test_a_task_of_ones_own_with_a_mistake_names_file_and_line(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from mirada import EncoderTask\n\nclass Mine(EncoderTask):\n    1 / 0\n"
    )
    code, _, err = run("train", "mine.py")
    assert code == 1
    assert err.startswith(f"{tmp_path / 'mine.py'}, line 4: ZeroDivisionError")


def test_ctrl_c_saves_and_the_next_command_goes_on(run, tmp_path):
    training = subprocess.Popen(
        [*COMMAND, "train", "reverse", "--steps", "1000000", "--out", "long"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = tmp_path / "long/metrics.jsonl"
    while not (metrics.exists() and metrics.read_text().count("\n") > 3):
        assert training.poll() is None, training.communicate()
        time.sleep(0.05)
    training.send_signal(signal.SIGINT)
    out, err = training.communicate(timeout=60)
    assert (training.returncode, err) == (130, "")
    first, _, following = out.splitlines()
    step = int(re.fullmatch(r"Stopped and saved at step (\d+) of 1000000, in long", first)[1])
    assert following == "  mirada train --resume long"
    code, out, _ = run("train", "--resume", "long", "--steps", str(step + 2))
    assert code == 0
    assert "The run lies in long" in out


def test_sigterm_is_told_from_an_end_by_the_exit_code(run, monkeypatch):
    from mirada.training.tasks_encoder import Copy

    loss, sent = Copy.loss, []

    def told(self, logits, targets):
        if not sent:
            sent.append(os.kill(os.getpid(), signal.SIGTERM))
        return loss(self, logits, targets)

    monkeypatch.setattr(Copy, "loss", told)
    code, out, err = run("train", "copy", "--steps", "1000000", "--out", "long")
    assert (code, err) == (130, "")
    assert re.match(r"Stopped and saved at step 1 of 1000000, in long\n", out)
    assert out.splitlines()[-1] == "  mirada train --resume long"


def test_a_terminal_shows_a_bar_and_says_the_same(tmp_path):
    ours, theirs = pty.openpty()
    training = subprocess.Popen(
        [*COMMAND, "train", "copy", "--steps", "40", "--lang", "es"], stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # what Linux says when the other side is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    assert training.wait() == 0
    text = said.decode()
    assert " %" in text
    assert "/40 · " in text
    assert " · pérdida " in text
    assert "El entrenamiento está en runs/copy" in text.splitlines()[-3]
