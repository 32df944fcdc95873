"""`mirada train digits`, `mirada train images FOLDER` and `mirada try RUN picture.png`, in two languages."""

import re
import shlex
import shutil

import pytest
from PIL import Image

from mirada import cli

SMALL = ("--d-model", "12", "--heads", "3", "--blocks", "2")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "MIRADA_DEBUG"):
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


@pytest.fixture
def photos(tmp_path):
    for colour, place in (("red", 0), ("blue", 2)):
        (tmp_path / "mis fotos" / colour).mkdir(parents=True)
        for i in range(5):
            light = [0, 0, 0]
            light[place] = 200 + i
            Image.new("RGB", (31, 29), tuple(light)).save(tmp_path / "mis fotos" / colour / f"{i}.png")
    return tmp_path / "mis fotos"


def test_from_nothing_to_a_digit_by_typing_what_each_command_says(run):
    code, out, err = run("train", "digits", "--steps", "11", *SMALL)
    assert (code, err) == (0, "")
    first, second, _, following = out.splitlines()
    assert re.fullmatch(
        r"digits: \d+(\.\d)?\u202f% of the pictures are recognised, among those never seen before "
        r"\(loss \d\.\d+, \d+(\.\d+)? s\)\.",
        first,
    )
    assert second == "The run lies in runs/digits"
    code, out, err = run(*shlex.split(following)[1:])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert re.fullmatch(r"\d+ → \d", lines[0])
    assert lines[2] == "Where [CLS] looks in block 1, head 0 (blocks: 2, heads: 3, counted from 0):"
    assert all(re.fullmatch(r"  ([ ░▒▓█])\1([ ░▒▓█])\2([ ░▒▓█])\3([ ░▒▓█])\4", line) for line in lines[3:7])
    assert "█" in out
    assert re.fullmatch(
        r"  Most: patch \d+ \(\d+\u202f%\), patch \d+ \(\d+\u202f%\), patch \d+ \(\d+\u202f%\)\. "
        r"At itself: \d+\u202f%\.",
        lines[7],
    )
    assert lines[8].startswith("  Of the patch it looks at most: ░ 10\u202f%+")
    code, out, _ = run("try", "runs/digits", "17", "--lang", "es", "--head", "2", "--block", "0")
    assert code == 0
    assert "Adónde mira [CLS] en el bloque 0, cabeza 2 (bloques: 2, cabezas: 3, contados desde 0):" in out
    code, _, err = run("try", "runs/digits", "99999")
    assert (code, err.splitlines()[0]) == (
        1,
        "There is no digit 99999: they are numbered from 0 to 1796. Or give the path of a picture.",
    )


def test_a_folder_of_ones_own(run, photos):
    (photos / "red" / "nota.png").write_text("no es una imagen")
    given = ("--side", "6", "--patch", "3", "--epochs", "30", *SMALL, "--lang", "es")
    code, out, err = run("train", "images", str(photos), *given)
    assert code == 0
    assert err.splitlines() == [
        f"«{photos}/red/nota.png» no es una imagen que se pueda leer aquí, o está dañada desde el principio. "
        "Elige un archivo PNG, JPEG, WebP, GIF, BMP o TIFF.",
        "Quedan fuera 1 de 11 archivos. De los demás se aprende.",
    ]
    assert out.startswith("images: reconoce el 100\u202f% de las imágenes, entre las nunca vistas (")
    typed = shlex.split(out.splitlines()[-1])
    assert typed[1:3] == ["try", "runs/images"]
    code, out, err = run(*typed[1:])
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"{typed[3]} → {typed[3].split('/')[-2]}"
    shutil.rmtree(photos / "blue")
    code, _, err = run("try", "runs/images", "nada.png", "--lang", "es")
    assert (code, err.splitlines()[0]) == (1, "No se puede leer «nada.png» (No such file or directory).")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("images",), '"images", and it alone, takes a folder of pictures: mirada train images FOLDER.'),
        (("digits", "photos"), '"images", and it alone, takes a folder of pictures'),
        (("digits", "--side", "8"), '--side and --patch go with "images" only.'),
        (("images", "."), "at least two folders of pictures are expected"),
        (("images", "none"), 'none" cannot be read'),
        (
            ("images", "mis fotos", "--side", "10", "--patch", "3"),
            "10 × 10 pixels cannot be cut into patches",
        ),
        (("images", "mis fotos", "--side", "100000"), "at most 1024 pixels a side and 4096 patches"),
        (("images", "mis fotos", "--side", "512", "--patch", "2"), "at most 1024 pixels a side and 4096"),
        (("mis fotos",), "From a folder of pictures one learns with: mirada train images FOLDER"),
        (("digits", "--causal"), "reads a picture all at once: leave out causal"),
    ],
)
def test_mistakes_are_said_in_a_sentence(run, photos, arguments, said):
    code, out, err = run("train", *arguments)
    assert code in (1, 2)
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_without_what_carries_the_digits(run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    code, _, err = run("train", "digits")
    assert code == 1
    assert err.startswith(
        'The task "digits" needs scikit-learn, which is not installed. Install it with: pip'
    )


def test_without_what_reads_pictures(run, monkeypatch, photos):
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    code, _, err = run("train", "images", str(photos))
    assert code == 1
    assert err.startswith(
        'Pictures need Pillow, which is not installed. Install it with: pip install "mirada'
    )
