"""The command line: a thin door. torch, the lab's server and the page are imported only by the command that
needs them, so that `mirada --help` is quick.

Exit codes: 0, done (Ctrl-C and SIGTERM are how the lab ends, so they are 0 too); 1, it could not be done;
2, the command was mistyped; 130, interrupted.
"""

import codecs
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from mirada import __version__
from mirada.catalogue import LANGUAGES, Language, from_locale, say
from mirada.command import Failure, Group, explain, language_option
from mirada.commands import attempt, exercises, export, figure, lab, lesson, train

# What stands in for letters that a terminal does not have; "?" for all others.
INSTEAD = str.maketrans(
    {"\u202f": " ", "\u2011": "-", "“": '"', "”": '"', "«": '"', "»": '"', "→": "->", "·": "-"}
)


def instead(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lost = error.object[error.start : error.end].translate(INSTEAD)
    return "".join(c if c.isascii() else "?" for c in lost), error.end


codecs.register_error("mirada", instead)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code. Every error becomes a sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="mirada")  # a letter that the terminal lacks must not end the command
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

    def text(key: str) -> str:
        return say(f"cli.{key}", language)

    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show_version,
        help=text("version"),
    )
    return Group(
        "mirada",
        language,
        commands=[each.build(language) for each in (lab, train, attempt, figure, export, lesson, exercises)],
        params=[language_option(text("lang"), language), version],
        help=text("about"),
        epilog=text("codes"),
    )


def show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"mirada {__version__}")
        context.exit()


if __name__ == "__main__":
    main()
