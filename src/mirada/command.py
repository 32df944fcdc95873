"""Click's commands, speaking the reader's language: click itself only ships English."""

import difflib
import math
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

from mirada.catalogue import LANGUAGES, Language, say


class Failure(Exception):
    """What was asked could not be done; the sentence `key` of the catalogue says why and what to do."""

    def __init__(self, key: str, **values: object):
        super().__init__(key)
        self.key = key
        self.values = values


class Mistyped(click.UsageError):
    """A usage error whose message is already in the reader's language."""


class Spoken(click.Command):
    """What commands and groups have in common: help in `language`."""

    def __init__(self, name: str, language: Language, **rest: Any):
        super().__init__(name, options_metavar=say("cli.options_metavar", language), **rest)
        self.language: Language = language

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # `explain` needs to know which command was meant
            raise

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option:
            option.help = say("cli.help", self.language)
        return option

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, say("cli.usage", self.language) + " ")

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.section("cli.arguments", click.Argument, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.section("cli.options", click.Option, ctx, formatter)

    def section(self, title: str, kind: type, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = [each for each in self.get_params(ctx) if isinstance(each, kind)]
        if records := [record for each in params if (record := each.get_help_record(ctx))]:
            with formatter.section(say(title, self.language)):
                formatter.write_dl(records)


class Command(Spoken):
    """A command. Words left over are refused by name."""

    allow_extra_args = True  # so that `invoke` can say which ones

    def invoke(self, ctx: click.Context) -> Any:
        if ctx.args:
            raise Mistyped(say("cli.extra", self.language, words=" ".join(ctx.args)), ctx)
        return super().invoke(ctx)


class Group(Spoken, click.Group):
    """A group of commands. Alone, it shows its help."""

    def __init__(self, name: str, language: Language, *, commands: Sequence[Spoken], **rest: Any):
        super().__init__(
            name,
            language,
            commands=commands,
            invoke_without_command=True,
            callback=help_where_alone,
            subcommand_metavar=say("cli.command_metavar", language),
            **rest,
        )

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.commands:
            close = difflib.get_close_matches(args[0], self.commands)
            raise Mistyped(unknown("cli.no_command", args[0], close, self.language), ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(say("cli.commands", self.language)):
            formatter.write_dl([(name, each.get_short_help_str(90)) for name, each in self.commands.items()])
        super().format_options(ctx, formatter)


@click.pass_context
def help_where_alone(ctx: click.Context, **_: object) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


class Checked(click.ParamType):
    """A value that `read` understands (it raises ValueError otherwise); `want` says what was expected."""

    def __init__(self, name: str, language: Language, want: str, read: Callable[[str], Any]):
        self.name = name
        self.language: Language = language
        self.want = want
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.read(value)
        except ValueError:
            want = say(self.want, self.language)
            raise Mistyped(
                say("cli.bad_value", self.language, value=value, name=source(param, ctx), want=want), ctx
            ) from None


def choice(name: str, values: Sequence[str], language: Language) -> Checked:
    return Checked(name, language, "cli.want_lang", lambda value: values[values.index(value)])


def port_number(language: Language) -> Checked:
    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and int(value) <= 65535):
            raise ValueError
        return int(value)

    return Checked("port", language, "cli.want_port", read)


def counted(name: str, language: Language, least: int) -> Checked:
    """A whole number of at least 0 or 1."""

    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and len(value) < 19 and int(value) >= least):
            raise ValueError
        return int(value)

    return Checked(name, language, "cli.want_natural" if least else "cli.want_natural_or_0", read)


def positive(name: str, language: Language) -> Checked:
    def read(value: str) -> float:
        if not 0 < float(value) < math.inf:
            raise ValueError
        return float(value)

    return Checked(name, language, "cli.want_positive", read)


def source(param: click.Parameter | None, ctx: click.Context | None) -> str:
    """What the person would have to change: the option, or the environment variable that stands for it."""
    if not param or not ctx or not param.name:
        return ""
    if ctx.get_parameter_source(param.name) is ParameterSource.ENVIRONMENT:
        return str(param.envvar)
    return param.opts[0]


def explain(error: click.UsageError, language: Language) -> str:
    """A usage error as a sentence in the reader's language, and where to read more."""
    if isinstance(error, Mistyped):
        sentence = error.message
    elif isinstance(error, click.NoSuchOption):
        sentence = unknown("cli.no_option", error.option_name, error.possibilities or [], language)
    elif isinstance(error, click.MissingParameter):
        name = error.param.human_readable_name if error.param else ""
        sentence = say("cli.missing_argument", language, name=name)
    elif isinstance(error, click.BadOptionUsage):
        is_flag = any(
            isinstance(each, click.Option) and each.is_flag and error.option_name in each.opts
            for each in (error.ctx.command.params if error.ctx else [])
        )
        sentence = say("cli.no_value" if is_flag else "cli.missing_value", language, name=error.option_name)
    else:
        sentence = say("cli.mistyped", language, reason=error.format_message())
    if error.ctx is None:
        return sentence
    return f"{sentence}\n{say('cli.hint', language, command=error.ctx.command_path)}"


def unknown(key: str, name: str, close: Sequence[str], language: Language) -> str:
    sentence = say(key, language, name=name)
    return f"{sentence} {say('cli.suggestion', language, names=', '.join(close))}" if close else sentence


def language_option(text: str, language: Language) -> click.Option:
    return click.Option(["--lang"], type=choice("lang", LANGUAGES, language), metavar="es|en", help=text)


def spoken(context: click.Context) -> Language:
    """The language in which the commands were built."""
    assert isinstance(context.command, Spoken)
    return context.command.language
