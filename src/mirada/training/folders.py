"""The folder of a run: new or found again, and one process in it at a time."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from mirada.training.checkpoints import begun_in, steps_in
from mirada.training.errors import TrainingError
from mirada.training.record import RUN

CHECKPOINTS, METRICS, MAPS = "checkpoints", "metrics.jsonl", "maps.safetensors"
FILES = (RUN, METRICS, MAPS)
# How `replace_bytes` calls a file that is not whole yet. What else lies there is somebody's own.
LEFTOVER = re.compile(rf"\.({'|'.join(map(re.escape, FILES))})\.[0-9a-f]{{8}}")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else trains in it meanwhile. The kernel lets go of it however this process ends.

    Raises TrainingError where somebody does. Where there are no locks (Windows, some file systems), and
    where the folder cannot be opened, which who reads it says better, nothing is held.
    """
    handle = None
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # who only asks whether somebody trains there holds it for an instant
            time.sleep(0.05)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)  # pyright: ignore[reportArgumentType]
        raise TrainingError("training.in_use", folder=folder) from None
    except (ImportError, OSError, ValueError):
        pass
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def new_folder(out: str | Path | None, name: str) -> Iterator[Path]:
    """An empty folder: the one asked for, or runs/name, runs/name-2, … It goes again if nothing is saved.

    Raises TrainingError where there cannot be one.
    """
    try:
        folder, ours = made(out, name)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise TrainingError("training.unwritable", path=out or "runs", reason=reason) from None
    with locked(folder):
        try:
            yield folder
        finally:
            with suppress(OSError):
                if not steps_in(folder / CHECKPOINTS):
                    unmake(folder, ours)


def made(out: str | Path | None, name: str) -> tuple[Path, bool]:
    """A folder in which there is nothing, and whether it is new."""
    if out is None:
        Path("runs").mkdir(exist_ok=True)
        for number in count(1):
            folder = Path("runs", named(name) if number == 1 else f"{named(name)}-{number}")
            with suppress(FileExistsError):
                folder.mkdir()
                return folder, True
    folder = Path(out or "")
    if not folder.parent.is_dir():
        raise TrainingError("training.no_folder", folder=folder.parent)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TrainingError("training.taken", folder=folder)
    ours = not folder.exists()
    folder.mkdir(exist_ok=True)
    return folder, ours


def named(task: str) -> str:
    """The name of a task as one that a folder can have: "a/b" is "a-b"."""
    return re.sub(r"[^\w.-]+", "-", task)[:60].strip(".-") or "run"


def unmake(folder: Path, ours: bool) -> None:
    """Take away what a run that came to nothing wrote."""
    without_leftovers(folder)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    if (folder / CHECKPOINTS).is_dir():
        (folder / CHECKPOINTS).rmdir()
    if ours:
        folder.rmdir()


def without_leftovers(folder: Path) -> None:
    """Take away what was being written when a process was killed."""
    with suppress(OSError, ValueError):
        for path in folder.iterdir():
            if LEFTOVER.fullmatch(path.name):
                path.unlink()
        for path in begun_in(folder / CHECKPOINTS):
            shutil.rmtree(path, ignore_errors=True)
