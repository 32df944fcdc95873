"""An exception of a student's code, as what a sentence can say of it."""

import linecache
import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import Path

OURS = str(Path(__file__).parents[1])
OTHERS = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
LONGEST = 200  # letters of an error's message that a sentence can bear


@dataclass(frozen=True)
class Failure:
    """An exception that the function let out."""

    kind: str
    message: str
    line: int | None  # of the student's own code, where it can be found
    code: str


def explained(error: BaseException) -> Failure:
    """The exception, and the last line of the student's own code on the way to it."""
    message = " ".join(str(error).split()).removesuffix(".")
    message = message if len(message) <= LONGEST else message[: LONGEST - 1] + "…"
    line, code = None, ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith((OURS, *OTHERS)) or file.startswith(OURS + "/exercises/book"):
            line, code = number, linecache.getline(file, number, frame.f_globals).strip()
    return Failure(type(error).__name__, message.replace("`", "'"), line, code)
