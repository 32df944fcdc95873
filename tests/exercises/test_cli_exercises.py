"""`mirada exercises`: the list, one question, the solutions, a student's file marked; in two languages."""

import json
import os
import subprocess
import sys

import pytest

from mirada import cli, exercises
from mirada.exercises import ENTRIES, progress, strict, texts
from mirada.exercises.strict import Marks


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs one command in this process: its exit code, and what it said on stdout and on stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = cli.run(["exercises", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def homework(tmp_path):
    """Writes a student's file, and says its name."""

    def homework(code, name="work.py"):
        text = code if isinstance(code, str) else json.dumps(notebook(code))
        (tmp_path / name).write_text(text, "utf-8")
        return name

    return homework


def notebook(cells):
    told = [{"cell_type": "markdown", "source": ["1/0 is no code here"]}]
    told += [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    return {"cells": told, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


GOOD = "from mirada.exercises import sqrt_d\nsqrt_d.check([4, 8, 20])\n"
BAD = "from mirada.exercises import blind_ceiling\nblind_ceiling.check(0.1)\n"


def test_the_list_has_every_exercise_and_ones_progress(run):
    exercises.sqrt_d.check([4, 8, 20])
    exercises.blind_ceiling.check(0.317)
    code, out, err = run()
    assert (code, err) == (0, "")
    for name, entry in ENTRIES.items():
        (line,) = [line for line in out.splitlines() if f" {name} " in line]
        assert line.split()[0] == str(entry.number)
        assert ("*" in line.split()[1]) == entry.core
        assert line.endswith("solved") == (name in ("sqrt_d", "blind_ceiling"))
    assert "Solved: 2 of 24; of the core path (*), 1 of 8." in out
    assert out.endswith("To read one: mirada exercises row_by_hand\n")


def test_the_core_alone_in_spanish(run):
    code, out, _ = run("--core", "--lang", "es")
    assert code == 0
    assert "Capítulo 2" in out
    assert "Una fila a mano" in out
    assert "padding" not in out


@pytest.mark.parametrize("name", ["row_by_hand", "broken_mask", "write_the_mask"])
def test_one_question_and_how_to_check_an_answer(run, name):
    code, out, err = run(name)
    assert (code, err) == (0, "")
    assert " ".join(getattr(exercises, name).question.split()) in " ".join(out.split())
    lines = ("from mirada import exercises", 'exercises.set_language("en")', f"exercises.{name}.check(...)")
    assert out.endswith("".join(f"    {line}\n" for line in lines))
    assert ("def " in out) == (name != "row_by_hand")
    assert "Solution" not in out


def test_an_answer_named_like_its_exercise_is_checked_in_the_language_that_was_asked_for(run):
    """`mirada exercises cut_patches`: the code it prints, run after a function of that name is written."""
    _, out, _ = run("cut_patches", "--lang", "es")
    *_, imported, chosen, check = map(str.strip, out.splitlines())
    names = {}
    texts.set_language("en")
    exec("\n".join(["def cut_patches(image, size): return image", imported, chosen]), names)
    assert repr(eval(check.replace("...", "cut_patches"), names)).startswith("Todavía no.")


def test_solutions_for_teachers(run):
    code, out, _ = run("--solutions")
    assert code == 0
    assert out.count("Solution:") == 24
    assert "Answer: [4.0, 8.0, 20.0]" in out
    _, one, _ = run("kv_cache", "--solutions", "--lang", "es")
    assert "torch.cat([cache[0], key])" in one
    assert one.count("Solución:") == 1
    assert run("--solutions", "--core")[1].count("Solution:") == 8


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sqrt"], 'There is no exercise "sqrt". Did you mean sqrt_d?'),
        (["xyz"], 'There is no exercise "xyz".\n'),
        (["sqrt_d", "--strict", "a.py"], "leave the name and --solutions out"),
        (["--strict", "nothing.py"], '"nothing.py" cannot be read (No such file'),
        (["--strict", "essay.docx"], '"essay.docx" is no Python file and no notebook'),
    ],
)
def test_what_is_mistyped_is_explained(run, arguments, said):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code"}]}'])
def test_a_broken_notebook_is_explained(run, homework, text):
    code, _, err = run("--strict", homework(text, "work.ipynb"))
    assert code == 2
    assert "is no Python file and no notebook" in err


def test_a_file_in_which_all_is_right_and_that_imports_its_neighbours(run, homework, tmp_path):
    (tmp_path / "folder").mkdir()
    homework("answer = [4, 8, 20]", "folder/mine.py")
    file = homework("from mine import answer\n" + GOOD.replace("[4, 8, 20]", "answer"), "folder/work.py")
    code, out, err = run("--strict", file)
    assert (code, err) == (0, "")
    assert out.startswith("sqrt_d: Correct. ")
    assert out.endswith("Correct: 1 of 1.\n")
    assert progress.solved() == set(), "a student's work is not the teacher's progress"


def test_what_is_wrong_or_pending_fails_the_file(run, homework):
    code, out, _ = run("--strict", homework(GOOD + BAD + "blind_ceiling.check(None)"), "--lang", "es")
    assert code == 1
    assert "sqrt_d: Correcto." in out
    assert "blind_ceiling: Todavía no hay nada que revisar." in out, "the last check counts"
    assert "Correctos: 1 de 2." in out


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def (:\n", "work.py stopped in line 1 with SyntaxError"),
        ("import sys; sys.exit(3)", "work.py stopped with SystemExit: 3"),
        (
            "\n\nprint(nobody)\n" + GOOD,
            "work.py stopped in line 3 with NameError: name 'nobody' is not defined",
        ),
        ("import os; os._exit(7)", "work.py stopped with exit: 7"),
    ],
)
def test_a_script_that_stops_fails_and_says_where(run, homework, code, said):
    result, out, _ = run("--strict", homework(code))
    assert result == 1
    assert said in out


def test_a_file_without_a_check_does_not_pass(run, homework):
    code, out, _ = run("--strict", homework("print('hello')"))
    assert (code, out) == (1, "No exercise is checked in work.py.\n")


def test_a_notebook_goes_on_after_a_cell_that_stops(run, homework):
    cells = ["%matplotlib inline\n!ls\nx = 1", "\n\n1/0", "%%bash\nexit 3", GOOD + "display(x)"]
    code, out, _ = run("--strict", homework(cells, "work.ipynb"))
    assert code == 1
    assert "work.ipynb [2] stopped in line 3 with ZeroDivisionError: division by zero" in out
    assert "sqrt_d: Correct." in out
    assert "SyntaxError" not in out


def test_the_core_wants_all_eight_and_nothing_else(run, homework):
    solve = """
from mirada import exercises
from mirada.exercises.functions import Function
for name, entry in exercises.ENTRIES.items():
    exercise = getattr(exercises, name)
    if entry.core:
        exercise.check(exercise.solution if isinstance(exercise, Function) else exercise.solution())
"""
    code, out, _ = run("--core", "--strict", homework(solve + BAD))
    assert code == 0
    assert "Correct: 8 of 8." in out
    assert "blind_ceiling" not in out


def test_a_core_of_which_one_is_not_checked_does_not_pass(run, monkeypatch):
    right = {name: {"status": "correct", "said": "Correct."} for name, entry in ENTRIES.items() if entry.core}
    assert Marks(right).passed(core=True)
    marks = Marks({name: found for name, found in right.items() if name != "sqrt_d"})
    assert not marks.passed(core=True)
    assert marks.passed(core=False)
    monkeypatch.setattr(strict, "mark", lambda path, language: marks)
    code, out, _ = run("--core", "--strict", "work.py")
    assert code == 1
    assert "sqrt_d: Not checked.\n" in out
    assert "Correct: 7 of 8." in out


def test_the_list_needs_no_torch():
    ask = "import sys, mirada.cli as c; c.run(['exercises']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_a_plain_python_shell_shows_questions_and_verdicts():
    typed = "from mirada.exercises import sqrt_d\nsqrt_d\nsqrt_d.check([16, 64, 400])\n"
    environment = {**os.environ, "LANG": "es_MX.UTF-8", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-i", "-q"], input=typed, capture_output=True, text=True, env=environment, check=True
    )
    assert "Ejercicio 3. Por qué la raíz de d ●\n\nUna consulta y una clave" in done.stdout
    assert done.stdout.rstrip().endswith("La desviación estándar es su raíz cuadrada.")
