"""`mirada lab`: the lab in the browser."""

import os
import sys

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Failure, language_option, port_number, spoken
from mirada.lab import DEFAULT_PORT


def build(language: Language) -> Command:
    def text(key: str, **values: object) -> str:
        return say(f"cli.{key}", language, **values)

    return Command(
        "lab",
        language,
        callback=run,
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
            language_option(text("lab_lang"), language),
            click.Option(["--no-browser"], is_flag=True, help=text("lab_no_browser")),
        ],
    )


@click.pass_context
def run(context: click.Context, host: str, port: int | None, lang: Language | None, no_browser: bool) -> None:
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
