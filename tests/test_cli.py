"""The command line: what it does, in which language, with which exit code, and never a traceback."""

import os
import stat
import subprocess
import sys

import pytest

import mirada.lab
from mirada import __version__, cli
from mirada.views import page

COMMAND = [sys.executable, "-m", "mirada.cli"]


@pytest.fixture(autouse=True)
def english(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "MIRADA_DEBUG", "MIRADA_LAB_PORT", "MIRADA_LAB_BROWSER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def static(tmp_path, monkeypatch):
    folder = tmp_path / "static"
    folder.mkdir()
    for name, text in {
        "words.js": "0",
        "words.css": "a{}",
        "words.es.html": "banco",
        "words.en.html": "bank",
    }.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(page, "STATIC", folder)
    return folder


@pytest.fixture
def run(capsysbinary):
    """Runs one command in this process: its exit code, and what it said on stdout and on stderr."""

    def run(*arguments):
        code = cli.run(list(arguments))
        said = capsysbinary.readouterr()
        return code, said.out.decode(), said.err.decode()

    return run


@pytest.mark.parametrize(
    "arguments",
    [[], ["--help"], ["lab", "--help"], ["export"], ["export", "words", "--help"], ["try", "--help"]],
)
def test_help_speaks_both_languages(run, arguments):
    code, english, said = run(*arguments)
    assert (code, said) == (0, "")
    assert english.startswith("Usage: mirada")
    assert "Options:" in english
    code, spanish, said = run(*arguments, "--lang", "es")
    assert (code, said) == (0, "")
    assert spanish.startswith("Uso: mirada")
    assert "Opciones:" in spanish
    lines = [line.strip() for line in spanish.splitlines()]
    assert len(set(lines)) == len([line for line in lines if line]) + ("" in lines), "nothing is said twice"
    for word in ("Usage", "Options", "Commands", "Show", "Open", "Write", "argument", "takes"):
        assert word not in spanish


@pytest.mark.parametrize(
    ("environment", "start"),
    [
        ({"LANG": "es_MX.UTF-8"}, "Uso"),
        ({"LANG": "es_ES", "LC_ALL": "en_GB.UTF-8"}, "Usage"),
        ({"LANG": "en_US", "LC_MESSAGES": "es"}, "Uso"),
        ({"LANG": "fr_FR"}, "Usage"),
    ],
)
def test_the_locale_chooses_the_language(run, monkeypatch, environment, start):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert run("--help")[1].startswith(start)
    assert run("--help", "--lang=en")[1].startswith("Usage")


def test_help_names_the_exit_codes_and_where_the_details_are(run):
    for part in ("0,", "1,", "2,", "130,", "MIRADA_DEBUG=1"):
        assert part in run("--help")[1]


def test_the_version(run):
    assert run("--version") == (0, f"mirada {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said", "dicho"),
    [
        (["lap"], 'no command "lap". Did you mean lab?', "la orden «lap». ¿Querías decir lab?"),
        (["export", "page"], 'no command "page"', "la orden «page»"),
        (["lab", "--prot", "3"], "no option --prot. Did you mean", "la opción --prot. ¿Querías decir"),
        (["lab", "-p"], "no option -p", "la opción -p"),
        (["lab", "--port"], "--port lacks its value", "--port le falta su valor"),
        (["lab", "--no-browser=1"], "--no-browser takes no value", "--no-browser no lleva valor"),
        (
            ["lab", "--port", "x"],
            '"x" is not valid for --port: a whole',
            "«x» no vale para --port: se espera un",
        ),
        (["lab", "--port", "-1"], '"-1" is not valid for --port', "«-1» no vale para --port"),
        (["lab", "--port", "65536"], "from 0 to 65535", "de 0 a 65535"),
        (["lab", "--port", "80.0"], "from 0 to 65535", "de 0 a 65535"),
        (["lab", "--port", "٨٠"], "from 0 to 65535", "de 0 a 65535"),
        (["lab", "--port", ""], "from 0 to 65535", "de 0 a 65535"),
        (["lab", "now", "please"], "to do with: now please", "Sobra esto en la orden: now please"),
        (["export", "words", "--output"], "--output lacks its value", "--output le falta su valor"),
    ],
)
def test_a_mistyped_command_is_explained(run, arguments, said, dicho):
    for language, words in (("en", said), ("es", dicho)):
        code, out, err = run("--lang", language, *arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert "--help" in err.splitlines()[-1]
        assert "Traceback" not in err


def test_an_unknown_language_is_explained_in_the_locales(run, monkeypatch):
    assert '"fr" is not valid for --lang: es or en' in run("export", "words", "--lang", "fr")[2]
    monkeypatch.setenv("LANG", "es_AR")
    assert "«fr» no vale para --lang: se espera es o en" in run("export", "words", "--lang=fr")[2]


def test_a_bad_port_in_the_environment_is_called_by_its_name(run, monkeypatch):
    monkeypatch.setenv("MIRADA_LAB_PORT", "99999")
    code, _, err = run("lab")
    assert code == 2
    assert '"99999" is not valid for MIRADA_LAB_PORT' in err


@pytest.mark.parametrize("language", ["es", "en"])
def test_export_writes_the_page(run, static, tmp_path, language):
    target = tmp_path / "página.html"
    code, out, err = run("export", "words", "--lang", language, "--output", str(target))
    assert (code, err) == (0, "")
    assert target.read_text("utf-8") == page.words_page(language)
    assert str(target) in out
    assert str(target.stat().st_size) in out


@pytest.mark.parametrize(("language", "name"), [("es", "palabras.html"), ("en", "words.html")])
def test_without_a_name_the_file_gets_one_in_its_language(run, static, tmp_path, monkeypatch, language, name):
    monkeypatch.chdir(tmp_path)
    assert run("export", "words", "--lang", language)[0] == 0
    assert (tmp_path / name).read_text("utf-8") == page.words_page(language)


def test_the_page_follows_the_locale(run, static, monkeypatch):
    monkeypatch.setenv("LANG", "es_CL")
    assert run("export", "words", "--output", "-")[1] == page.words_page("es")


def test_a_dash_is_standard_output_and_nothing_else_is_said(run, static):
    assert run("export", "words", "--output", "-") == (0, page.words_page("en"), "")


def test_export_replaces_a_file_and_keeps_its_permissions(run, static, tmp_path):
    target = tmp_path / "words.html"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.html"
    link.symlink_to(target)
    assert run("export", "words", "--output", str(link))[0] == 0
    assert link.is_symlink()
    assert target.read_text("utf-8") == page.words_page("en")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(run, static, tmp_path):
    mask = os.umask(0o027)
    try:
        run("export", "words", "--output", str(tmp_path / "words.html"))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "words.html").stat().st_mode) == 0o640


def test_a_failed_export_leaves_the_old_file_and_nothing_beside_it(run, static, tmp_path, monkeypatch):
    target = tmp_path / "words.html"
    target.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, _, err = run("export", "words", "--output", str(target))
    assert code == 1
    assert "No space left on device" in err
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["static", "words.html"]


@pytest.mark.parametrize(
    ("output", "said", "dicho"),
    [
        ("{}", "is a folder", "es una carpeta"),
        ("{}/nowhere/words.html", 'nowhere" does not exist', "nowhere» no existe"),
        ("{}/a-file/words.html", "does not exist", "no existe"),
        ("{}/" + 300 * "x", "cannot be written", "No se puede escribir"),
        ("/proc/words.html", "does not exist|cannot be written", "no existe|No se puede escribir"),
    ],
)
def test_where_nothing_can_be_written_it_says_so(run, static, tmp_path, output, said, dicho):
    (tmp_path / "a-file").write_text("x")
    for language, words in (("en", said), ("es", dicho)):
        code, out, err = run("export", "words", "--lang", language, "--output", output.format(tmp_path))
        assert (code, out) == (1, "")
        assert any(word in err for word in words.split("|"))


def test_a_read_only_file_is_not_replaced_behind_its_owners_back(run, static, tmp_path, monkeypatch):
    target = tmp_path / "words.html"
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs this may be root
    code, _, err = run("export", "words", "--output", str(target))
    assert code == 1
    assert "Permission denied" in err
    assert target.read_text() == "old"


@pytest.mark.parametrize("command", [["export", "words", "--output", "-"], ["lab", "--no-browser"]])
def test_a_page_that_was_not_built_says_what_to_do(run, static, command):
    (static / "words.es.html").unlink()
    code, out, err = run("--lang", "es", *command, "--lang", "es")
    assert (code, out) == (1, "")
    assert "falta" in err
    assert "words.es.html" in err
    assert "make js" in err


def test_the_lab_without_its_extra_says_what_to_install(run, monkeypatch):
    monkeypatch.delitem(sys.modules, "mirada.lab.server", raising=False)
    monkeypatch.delattr(mirada.lab, "server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)  # as if it were not installed
    code, _, err = run("lab")
    assert code == 1
    assert '"uvicorn"' in err
    assert 'pip install "mirada[lab]"' in err
    assert "Traceback" not in err


def test_the_unexpected_is_one_sentence_and_the_details_on_demand(run, static, monkeypatch):
    monkeypatch.setattr(page, "words_page", lambda _: 1 / 0)
    code, out, err = run("export", "words")
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "ZeroDivisionError: division by zero" in err
    assert "MIRADA_DEBUG=1" in err
    monkeypatch.setenv("MIRADA_DEBUG", "1")
    assert "Traceback" in run("export", "words")[2]


def test_interrupted_is_130_and_quiet(run, static, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "words_page", interrupt)
    code, out, err = run("export", "words")
    assert (code, out, err.strip()) == (130, "", "")


# In a process of their own.


def loaded_by(*arguments):
    script = (
        "import sys; from mirada.cli import run; code = run(sys.argv[1:]); "
        "print(code, *sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    code, *names = done.stderr.splitlines()[-1].split()
    return int(code), set(names)


@pytest.mark.parametrize("arguments", [["--help"], ["lab", "--help"], ["--version"], ["lap"]])
def test_help_imports_neither_torch_nor_the_server(arguments):
    _, names = loaded_by(*arguments)
    assert "click" in names
    assert not names & {
        "torch",
        "fastapi",
        "uvicorn",
        "starlette",
        "pydantic",
        "anywidget",
        "numpy",
        "asyncio",
    }


def test_export_needs_the_core_alone_and_not_even_torch():
    code, names = loaded_by("export", "words", "--output", os.devnull)
    assert code == 0
    assert not names & {"torch", "fastapi", "uvicorn", "starlette", "pydantic", "anywidget", "numpy"}


def test_the_installed_command_is_the_same():
    program = os.path.join(os.path.dirname(sys.executable), "mirada")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"mirada {__version__}\n"


def test_an_accent_that_the_terminal_lacks_does_not_end_the_command():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "es_ES"}
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, env=environment, check=True)
    assert b"Uso: mirada" in done.stdout


def test_a_reader_that_leaves_ends_the_command_quietly():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "export", "words", "--output", "-"], stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""
