"""A task by its name, from a text, or from a file that somebody wrote."""

import difflib
import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from mirada.training.errors import TrainingError
from mirada.training.task import Task
from mirada.training.tasks_decoder import Addition, Letters
from mirada.training.tasks_encoder import Copy, Count, Reverse, Shift, Sort
from mirada.training.tasks_images import Digits, ImageFolder
from mirada.training.tasks_pairs import NumberWords, ReversePairs

BUILT_IN: dict[str, Callable[[], Task]] = {
    "reverse": Reverse,
    "copy": Copy,
    "shift": Shift,
    "sort": Sort,
    "count": Count,
    "addition": Addition,
    "reverse-seq2seq": ReversePairs,
    "numbers-es": lambda: NumberWords("es"),
    "numbers-en": lambda: NumberWords("en"),
    "digits": Digits,
}
Findable = str | Path | Task | type[Task]
NAMES = (*BUILT_IN, "letters", "images")  # these need a text, whose file is the name, and a folder


NEEDED = (
    *("source_symbols", "target_symbols", "source_length", "target_length"),
    *("question_length", "answer_length"),
)


def find_task(name: Findable) -> Task:
    """A built-in task by its name, somebody's own from `my_task.py`, or the next letter of `any_other.file`.

    A task itself, or its class, is one without looking.

    Raises TrainingError where there is none, and for every mistake in the file.
    """
    if inspect.isclass(name) and issubclass(name, Task):
        name = made_of(name)
    if isinstance(name, Task):
        if not name.name:
            type(name).name = type(name).__name__.lower()
        return name
    if not isinstance(name, str | Path):
        raise TrainingError("training.not_a_task", kind=type(name).__name__, names=", ".join(NAMES))
    name = str(name)
    if name in BUILT_IN:
        return BUILT_IN[name]()
    path = Path(name)
    if path.suffix == ".py":
        return from_file(path)
    if path.is_file():
        return Letters(path)
    if name == "letters":
        raise TrainingError("training.no_text")
    if name == "images":
        raise TrainingError("training.no_pictures")
    if path.exists():  # a folder, or /dev/zero, of which there is no end
        raise TrainingError("training.not_a_file", path=name)
    if path.suffix or len(path.parts) > 1:
        raise TrainingError("training.no_file", path=name, names=", ".join(BUILT_IN))
    close = difflib.get_close_matches(name, NAMES, 1)
    if close:
        raise TrainingError("training.no_task_close", name=name, close=close[0], names=", ".join(NAMES))
    raise TrainingError("training.no_task", name=name, names=", ".join(NAMES))


def described(told: dict[str, Any]) -> Task:
    """The task that `Task.describe` told of. TrainingError where it cannot be found again."""
    if "file" in told:
        if not Path(told["file"]).is_file():
            raise TrainingError("training.moved", path=told["file"])
        return from_file(Path(told["file"]))
    if told["name"] == Letters.name and "name_only" not in told:
        task = Letters(told["text"], told["context"], told["symbols"], told["sha256"])
    elif told["name"] == ImageFolder.name and "name_only" not in told:
        task = ImageFolder(told["folder"], told["side"], told["patch"], told["labels"])
    elif told["name"] in BUILT_IN and "name_only" not in told:
        task = find_task(told["name"])
    else:
        raise TrainingError("training.give_task", name=told["name"])
    task.train_size = told.get("train_size", task.train_size)
    task.validation_size = told.get("validation_size", task.validation_size)
    return task


def from_file(path: Path) -> Task:
    """The one task that a Python file defines: an instance, or a class that can be made without arguments."""
    path = path.absolute()
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except OSError as error:
        raise TrainingError("training.unreadable", path=path, reason=error.strerror or error) from None
    except SyntaxError as error:
        raise TrainingError(
            "training.bad_syntax", path=path, line=error.lineno or 1, reason=error.msg
        ) from None
    except ValueError as error:  # a zero byte
        raise TrainingError("training.bad_syntax", path=path, line=1, reason=error) from None
    # Two files of one name are two modules: what was made of the first still finds its class there.
    mark = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    module = ModuleType(f"mirada_task_{path.stem}_{mark}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(code, module.__dict__)
        task = the_task_in(module, path)
    except TrainingError:
        raise
    except (Exception, SystemExit) as error:
        raise blame(error, str(path)) from None
    task.file = str(path)
    return task


def the_task_in(module: ModuleType, path: Path) -> Task:
    names = {id(thing): name for name, thing in vars(module).items()}
    made = [thing for thing in vars(module).values() if isinstance(thing, Task)]
    own = [
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing) and issubclass(thing, Task) and thing.__module__ == module.__name__
    ]
    # A class that another one builds on, or that an instance was made of, is not a second task.
    classes = [
        each
        for each in own
        if not any(other is not each and issubclass(other, each) for other in own)
        and not any(isinstance(task, each) for task in made)
    ]
    found = list({id(thing): thing for thing in (*made, *classes)}.values())
    if not found:
        raise TrainingError("training.no_task_in", path=path)
    if len(found) > 1:
        several = ", ".join(names[id(each)] for each in found)
        raise TrainingError("training.many_tasks_in", path=path, names=several)
    task = made_of(found[0], path) if isinstance(found[0], type) else found[0]
    if not task.name:
        type(task).name = path.stem
    return task


def made_of(kind: type[Task], path: Path | None = None) -> Task:
    """An instance. TrainingError where its class wants arguments."""
    try:
        inspect.signature(kind).bind()
    except TypeError as error:
        name = f"{kind.__name__} ({path})" if path else kind.__name__
        raise TrainingError("training.task_arguments", name=name, reason=error) from None
    return kind()


@contextmanager
def blaming(task: Task) -> Iterator[None]:
    """An exception from the file of somebody's own task becomes a TrainingError that says where."""
    try:
        yield
    except TrainingError:
        raise
    except (Exception, SystemExit) as error:
        missing = missing_in(task, error)
        if missing is not None:
            raise TrainingError("training.not_written", task=task.called, name=missing) from None
        if task.file is not None and lines_of(error, task.file):
            raise blame(error, task.file) from error
        raise


def missing_in(task: Task, error: BaseException) -> str | None:
    """The method or attribute that whoever wrote a task left out, if that is what is wrong."""
    if isinstance(error, AttributeError) and error.obj is task and error.name in NEEDED:
        return error.name
    if isinstance(error, NotImplementedError):
        last = traceback.extract_tb(error.__traceback__)[-1]
        if Path(last.filename).parent == Path(__file__).parent:
            return last.name
    return None


def blame(error: BaseException, path: str) -> TrainingError:
    """What went wrong in the file, and in which of its lines."""
    line = (lines_of(error, path) or [1])[-1]
    kind = type(error).__name__
    return TrainingError("training.task_failed", path=path, line=line, kind=kind, reason=error)


def lines_of(error: BaseException, path: str) -> list[int]:
    """Of the file, those that the exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.lineno or 1 for frame in frames if frame.filename == path]
