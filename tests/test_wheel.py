"""What is published: the wheel and the sdist, built, opened, and installed where there is no Node."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from mirada import __version__
from mirada.views.page import words_page

ROOT = Path(__file__).parents[1]
BUILT = [
    *(
        f"{page}.{end}"
        for page in ("words", "lab", "train", "images")
        for end in ("js", "css", "es.html", "en.html")
    ),
    "widget.js",
]
CARRIED = [
    "py.typed",
    "catalogue/es.json",
    "catalogue/en.json",
    "exercises/es.json",
    "exercises/en.json",
    "views/words.json",
    "views/scene.schema.json",
    "lab/tasks.json",
    "static/.gitkeep",
    *(f"static/{name}" for name in BUILT),
]
# The chapters of the lesson lie beside src; they travel inside the package.
LESSON = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "lesson").glob("e[ns]/*.md"))]


def build(source, out, *kinds):
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *kinds, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The sdist, and the wheel that is built from it: what the first lacks, the second cannot have."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(dist):
    return next(dist.glob("*.whl"))


def test_there_is_one_of_each_and_they_are_named_by_the_version(dist):
    assert sorted(path.name for path in dist.iterdir()) == [
        f"mirada-{__version__}-py3-none-any.whl",
        f"mirada-{__version__}.tar.gz",
    ]


@pytest.mark.parametrize("name", CARRIED)
def test_the_wheel_carries_what_is_not_python(wheel, name):
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(f"mirada/{name}") == (ROOT / "src/mirada" / name).read_bytes()


def test_the_wheel_carries_every_module_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        carried = {
            name for name in archive.namelist() if not name.startswith(f"mirada-{__version__}.dist-info/")
        }
    modules = {
        f"mirada/{p.relative_to(ROOT / 'src/mirada').as_posix()}" for p in (ROOT / "src/mirada").rglob("*.py")
    }
    assert modules <= carried
    assert carried - modules == {f"mirada/{name}" for name in (*CARRIED, *LESSON)}
    assert LESSON


def test_the_sdist_carries_the_sources_of_the_page_but_not_its_tools(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/mirada/{name}" for name in CARRIED} | {*LESSON} <= names
    assert {"pyproject.toml", "LICENSE", "README.md", "frontend/build.mjs", "tests/test_wheel.py"} <= names
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment of its own with the wheel in it, without Node on its path.

    The dependencies are lent by this environment, file by file, so that nothing is fetched: all but mirada.
    """
    place = tmp_path_factory.mktemp("installed")
    venv.create(place / "env", with_pip=False, symlinks=True)
    python = place / "env/bin/python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "mirada" not in each.name and each.suffix != ".pth":
            (site / each.name).symlink_to(each)
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture
def run(installed):
    """Runs a program of that environment, somewhere else than in this project."""
    environment = {"PATH": str(installed / "env/bin"), "HOME": str(installed), "LANG": "en_US.UTF-8"}

    def run(program, *arguments):
        return subprocess.run(
            [installed / "env/bin" / program, *arguments],
            cwd=installed,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    return run


def test_it_is_imported_from_where_it_was_installed(run, installed):
    said = run(
        "python", "-c", "import mirada; print(mirada.__version__, mirada.__file__, mirada.Mask.causal())"
    )
    version, place, mask = said.split()
    assert version == __version__
    assert place.startswith(str(installed))
    assert mask == "Mask.causal()"


def test_the_command_is_installed(run):
    assert run("mirada", "--help").startswith("Usage: mirada")
    assert run("mirada", "--version") == f"mirada {__version__}\n"


@pytest.mark.parametrize("language", ["es", "en"])
def test_it_exports_the_same_page(run, language):
    assert run("mirada", "export", "words", "--lang", language, "--output", "-") == words_page(language)


@pytest.mark.parametrize("language", ["es", "en"])
def test_its_lesson_is_written_as_notebooks(run, installed, language):
    folder = installed / f"notebooks-{language}"
    assert str(folder) in run("mirada", "lesson", "--lang", language, "--notebooks", str(folder))
    chapters = [name for name in LESSON if f"/{language}/0" in name or f"/{language}/1" in name]
    assert sorted(path.stem for path in folder.iterdir()) == [Path(name).stem for name in chapters]


def test_its_lab_serves_the_page(installed, run):
    ask = """
import re, subprocess, urllib.request
lab = subprocess.Popen(["mirada", "lab", "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True)
try:
    url = re.search("http://[^ ]+", lab.stdout.readline())[0]
    print(urllib.request.urlopen(url + "?lang=es").read().decode())
finally:
    lab.terminate()
    lab.communicate()
print(lab.returncode)
"""
    page, code = run("python", "-c", ask).rsplit("\n", 2)[:2]
    assert "banco" in page
    assert 'data-host="lab"' in page
    assert code == "0"


def test_nothing_there_could_have_built_the_page(run):
    said = run(
        "python", "-c", "import shutil; print(shutil.which('node'), shutil.which('npm'), shutil.which('npx'))"
    )
    assert said.split() == ["None"] * 3
