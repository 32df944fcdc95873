"""`mirada export`: a page as one file."""

import sys
from pathlib import Path

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Failure, Group, language_option, spoken


def build(language: Language) -> Group:
    def text(key: str, **values: object) -> str:
        return say(f"cli.{key}", language, **values)

    name = say("export.words_name", language)
    words = Command(
        "words",
        language,
        callback=export_words,
        help=text("export_words"),
        params=[
            language_option(text("export_lang"), language),
            click.Option(["--output"], default=name, metavar=name, help=text("export_output", name=name)),
        ],
    )
    own = [language_option(text("lang"), language)]
    return Group("export", language, commands=[words], params=own, help=text("export"))


@click.pass_context
def export_words(context: click.Context, lang: Language | None, output: str) -> None:
    from mirada.views.page import BundleMissing, words_page

    language = spoken(context)
    try:
        page = words_page(lang or language)
    except BundleMissing as error:
        raise Failure("cli.no_bundle", path=error.path) from None
    if output == "-":
        sys.stdout.buffer.write(page.encode())
        sys.stdout.buffer.flush()
        return
    write(Path(output), page, example=Path(output) / say("export.words_name", language))
    click.echo(say("export.written", language, path=output, size=len(page.encode())))


def write(path: Path, page: str, example: Path) -> None:
    from mirada.views.files import write_text

    try:
        write_text(path, page)
    except OSError as error:
        raise unwritten(error, path, example) from None


def unwritten(error: OSError, path: Path, example: Path) -> Exception:
    """Why a file could not be written, and what to do."""
    if isinstance(error, IsADirectoryError):
        return Failure("export.folder", path=path, example=example)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Failure("export.no_folder", folder=path.parent)
    if isinstance(error, BrokenPipeError):
        return error
    return Failure("export.unwritable", path=path, reason=error.strerror)
