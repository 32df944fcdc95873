"""`mirada exercises`: the list and one's progress, one question, the solutions, a student's file marked."""

import difflib
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mirada import exercises
from mirada.catalogue import Language
from mirada.command import Command, Mistyped, language_option, spoken
from mirada.exercises.listing import ENTRIES
from mirada.exercises.texts import current_language, say, set_language

if TYPE_CHECKING:
    from mirada.exercises.strict import Marks


def build(language: Language) -> Command:
    def told(key: str) -> str:
        return say(f"command.{key}", language)

    return Command(
        "exercises",
        language,
        callback=run,
        help=told("about"),
        params=[
            click.Argument(["name"], required=False, metavar=told("name"), help=told("name_help")),
            click.Option(["--solutions"], is_flag=True, help=told("solutions")),
            click.Option(["--core"], is_flag=True, help=told("core")),
            click.Option(["--strict"], metavar=told("file"), help=told("strict")),
            language_option(told("lang"), language),
        ],
    )


@click.pass_context
def run(
    context: click.Context,
    name: str | None,
    solutions: bool,
    core: bool,
    strict: str | None,
    lang: Language | None,
) -> None:
    language = spoken(context)
    set_language(language)
    if strict is not None:
        if name is not None or solutions:
            raise Mistyped(say("command.alone"), context)
        context.exit(marked(context, strict, core, language))
    if name is not None and name not in ENTRIES:
        close = difflib.get_close_matches(name, ENTRIES)
        more = f" {say('command.close', names=', '.join(close))}" if close else ""
        raise Mistyped(say("command.unknown", name=name) + more, context)
    if name is None and not solutions:
        listed(core)
        return
    chosen = [name] if name else [each for each in ENTRIES if ENTRIES[each].core or not core]
    click.echo("\n\n\n".join(written(each, solutions) for each in chosen))


def listed(core: bool) -> None:
    """All the exercises by chapter, and which of them are solved."""
    from mirada.exercises.progress import solved

    done, chapter = solved(), None
    for name, entry in ENTRIES.items():
        if core and not entry.core:
            continue
        if entry.chapter != chapter:
            chapter = entry.chapter
            click.echo(say("command.chapter", chapter=chapter))
        title, mark = say(f"{name}.title"), "*" if entry.core else " "
        state = say("command.solved") if name in done else ""
        click.echo(f"  {entry.number:>2} {mark} {name:<21}  {title:<31}  {state}".rstrip())
    cores = {name for name, entry in ENTRIES.items() if entry.core}
    counts = {"solved": len(done), "all": len(ENTRIES), "core": len(done & cores), "core_all": len(cores)}
    click.echo(f"\n{say('command.progress', **counts)}")
    first = next((name for name in ENTRIES if name not in done), next(iter(ENTRIES)))
    click.echo(say("command.next", name=first))


def written(name: str, solution: bool) -> str:
    """One exercise as text, with its solution or with how to check an answer."""
    exercise = getattr(exercises, name)
    parts = [exercise.heading, *map(wrapped, exercise.question.split("\n\n"))]
    if exercise.given_code:
        parts.append(textwrap.indent(exercise.given_code, "    "))
    if not solution:
        return "\n\n".join([*parts, say("command.check"), textwrap.indent(check_code(name), "    ")])
    parts += [say("command.solution"), textwrap.indent(exercise.solution_code, "    ")]
    if exercise.solution_value:
        parts.append(say("command.answer", answer=exercise.solution_value))
    return "\n\n".join([*parts, wrapped(say(f"{name}.why"))])


def check_code(name: str) -> str:
    """By the module's name, since the function that answers bears the exercise's own."""
    language = current_language()
    return f'from mirada import exercises\nexercises.set_language("{language}")\nexercises.{name}.check(...)'


def wrapped(paragraph: str) -> str:
    width = min(shutil.get_terminal_size().columns, 100)
    return textwrap.fill(paragraph, max(width, 20), break_long_words=False, break_on_hyphens=False)


def marked(context: click.Context, file: str, core: bool, language: Language) -> int:
    """Say what came of each exercise of the file, and return the exit code."""
    from mirada.exercises.strict import mark

    path = Path(file)
    try:
        if path.suffix not in (".py", ".ipynb"):
            raise ValueError
        marks = mark(path, language)
    except OSError as error:
        raise Mistyped(say("command.no_file", path=file, reason=error.strerror), context) from None
    except ValueError:
        raise Mistyped(say("command.no_notebook", path=file), context) from None
    report(marks, file, core)
    return 0 if marks.passed(core) else 1


def report(marks: "Marks", file: str, core: bool) -> None:
    wanted = marks.wanted(core)
    right = 0
    for name in wanted:
        found = marks.checked.get(name)
        said = found["said"] if found else say("command.unchecked")
        right += bool(found) and found["status"] == "correct"
        click.echo(f"{name}: {said}")
    for stop in marks.stopped:
        key = "command.stopped" if stop["line"] else "command.stopped_somewhere"
        where = {"where": stop["stopped"], "line": stop["line"]}
        click.echo(say(key, **where, kind=stop["kind"], message=stop["message"]))
    if wanted:
        click.echo(say("command.sum", right=right, all=len(wanted)))
    else:
        click.echo(say("command.nothing", path=file))
