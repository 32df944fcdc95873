"""Run one file of a student's and write down what its checks find.

`python -m mirada.exercises.student FILE OUT`: a process of its own, so that nothing of the file is left
behind. Each check writes a line to OUT (see progress.py); so does whatever stops the file.
"""

import json
import linecache
import os
import sys
from pathlib import Path

from mirada.exercises.failing import explained
from mirada.exercises.progress import TOLD


def pieces(path: Path) -> list[tuple[str, str]]:
    """(name, code) of the whole file, or of each cell of a notebook.

    Raises ValueError where the file is no notebook that can be read.
    """
    text = path.read_text("utf-8-sig")
    if path.suffix != ".ipynb":
        return [(path.name, text)]
    try:
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        codes = ["".join(cell["source"]) for cell in cells]
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from None
    return [(f"{path.name} [{number}]", plain(code)) for number, code in enumerate(codes, 1)]


def plain(code: str) -> str:
    """A cell without what only IPython understands. Line numbers stay."""
    if code.lstrip().startswith("%%"):
        return ""
    lines = []
    for line in code.split("\n"):
        start = line.lstrip()
        lines.append(line[: -len(start)] + "pass" if start.startswith(("%", "!", "?")) else line)
    return "\n".join(lines)


def run(path: Path) -> None:
    """A script ends where it fails; in a notebook the next cell still has its turn."""
    namespace = {"__name__": "__main__", "__file__": str(path), "display": print}
    for name, code in pieces(path):
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            exec(compile(code, name, "exec"), namespace)
        except SystemExit as ended:
            if ended.code:
                tell(name, "SystemExit", str(ended.code), None)
        except SyntaxError as error:
            tell(name, type(error).__name__, str(error.msg), error.lineno)
        except Exception as error:
            found = explained(error)
            tell(name, found.kind, found.message, found.line)


def tell(name: str, kind: str, message: str, line: int | None) -> None:
    with open(os.environ[TOLD], "a", encoding="utf-8") as file:
        file.write(json.dumps({"stopped": name, "kind": kind, "message": message, "line": line}) + "\n")


if __name__ == "__main__":
    given, os.environ[TOLD] = Path(sys.argv[1]).absolute(), sys.argv[2]
    sys.path[0] = str(given.parent)
    sys.argv = [str(given)]
    run(given)
