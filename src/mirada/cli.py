"""The command line: a thin door. torch, the lab's server and the page are imported only by the command that
needs them, so that `mirada --help` is quick.

Exit codes: 0, done (Ctrl-C and SIGTERM are how the lab ends, so they are 0 too); 1, it could not be done;
2, the command was mistyped; 130, interrupted.
"""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from mirada import __version__
from mirada.catalogue import LANGUAGES, Language, from_locale, say
from mirada.command import Command, Group, choice, explain, port_number
from mirada.lab import DEFAULT_PORT


class Failure(Exception):
    """What was asked could not be done; the sentence `key` of the catalogue says why and what to do."""

    def __init__(self, key: str, **values: object):
        super().__init__(key)
        self.key = key
        self.values = values


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code. Every error becomes a sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an accent that the terminal lacks must not end the command
    language = asked_language(arguments)
    try:
        return build(language).main(arguments, "mirada", standalone_mode=False) or 0
    except click.UsageError as error:
        return complain(explain(error, language), code=2)
    except (KeyboardInterrupt, click.Abort):
        return 130
    except Failure as failure:
        return complain(say(failure.key, language, **failure.values))
    except BrokenPipeError:
        # Whoever was reading has left; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("MIRADA_DEBUG"):
            traceback.print_exc()
        return complain(say("cli.unexpected", language, kind=type(error).__name__, reason=error))


def complain(sentence: str, code: int = 1) -> int:
    click.echo(sentence, err=True)
    return code


def asked_language(arguments: Sequence[str]) -> Language:
    """The last valid --lang, wherever it stands, else the locale's: needed before anything is parsed."""
    for word, following in zip(reversed(arguments), [None, *reversed(arguments)], strict=False):
        value = word.removeprefix("--lang=") if word != "--lang" else following
        if word.startswith("--lang"):
            for language in LANGUAGES:
                if value == language:
                    return language
    return from_locale(*(os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")))


def build(language: Language) -> click.Group:
    """The commands, with their help in `language`."""

    def text(key: str, **values: object) -> str:
        return say(f"cli.{key}", language, **values)

    def lang(key: str) -> click.Option:
        return click.Option(
            ["--lang"], type=choice("lang", LANGUAGES, language), metavar="es|en", help=text(key)
        )

    words_name = say("export.words_name", language)
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show_version,
        help=text("version"),
    )
    lab = Command(
        "lab",
        language,
        callback=run_lab,
        help=text("lab"),
        params=[
            click.Option(["--host"], default="127.0.0.1", metavar="127.0.0.1", help=text("lab_host")),
            click.Option(
                ["--port"],
                type=port_number(language),
                envvar="MIRADA_LAB_PORT",
                metavar=str(DEFAULT_PORT),
                help=text("lab_port", port=DEFAULT_PORT),
            ),
            lang("lab_lang"),
            click.Option(["--no-browser"], is_flag=True, help=text("lab_no_browser")),
        ],
    )
    words = Command(
        "words",
        language,
        callback=export_words,
        help=text("export_words"),
        params=[
            lang("export_lang"),
            click.Option(
                ["--output"],
                default=words_name,
                metavar=words_name,
                help=text("export_output", name=words_name),
            ),
        ],
    )
    export = Group("export", language, commands=[words], params=[lang("lang")], help=text("export"))
    return Group(
        "mirada",
        language,
        commands=[lab, export],
        params=[lang("lang"), version],
        help=text("about"),
        epilog=text("codes"),
    )


def show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"mirada {__version__}")
        context.exit()


@click.pass_context
def run_lab(
    context: click.Context, host: str, port: int | None, lang: Language | None, no_browser: bool
) -> None:
    language = spoken(context)
    try:
        from mirada.lab import server
    except ImportError as error:
        if (error.name or "").startswith("mirada"):
            raise
        raise Failure("cli.no_lab", name=error.name) from None
    from mirada.views.page import BundleMissing

    def tell(key: str, **values: object) -> None:
        click.echo(say(key, language, **values))

    browser = not no_browser and os.environ.get("MIRADA_LAB_BROWSER") != "0"
    try:
        server.run(host, port, lang, browser=browser, tell=tell)
    except server.CannotListen as error:
        raise Failure(error.key, **error.values) from None
    except BundleMissing as error:
        raise Failure("cli.no_bundle", path=error.path) from None
    # A computation may still run in a thread, and the interpreter would wait for it.
    sys.stdout.flush()
    os._exit(0)


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
    except IsADirectoryError:
        raise Failure("export.folder", path=path, example=example) from None
    except (FileNotFoundError, NotADirectoryError):
        raise Failure("export.no_folder", folder=path.parent) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure("export.unwritable", path=path, reason=error.strerror) from None


def spoken(context: click.Context) -> Language:
    """The language in which the commands were built."""
    assert isinstance(context.command, Command)
    return context.command.language


if __name__ == "__main__":
    main()
