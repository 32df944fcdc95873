"""`mirada train`: learn a task, with a bar that shows how far it is."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Mistyped, language_option, spoken
from mirada.commands.speaking import speaking
from mirada.views.terminal import decimal, percent

if TYPE_CHECKING:
    from mirada.training.runs import Run

TASKS = "reverse, copy, shift, sort, count, addition, reverse-seq2seq, numbers-es, numbers-en"


def build(language: Language) -> Command:
    def text(key: str, **values: object) -> str:
        return say(f"cli.{key}", language, **values)

    def option(name: str, metavar: str, key: str) -> click.Option:
        return click.Option([f"--{name}"], metavar=metavar, help=say(key, language))

    def flag(name: str, key: str) -> click.Option:
        return click.Option([f"--{name}"], is_flag=True, help=say(key, language))

    return Command(
        "train",
        language,
        callback=run,
        help=text("train", tasks=TASKS),
        params=[
            click.Argument(["task"], required=False, metavar=text("train_task")),
            option("steps", "N", "cli.train_steps"),
            option("epochs", "N", "cli.train_epochs"),
            flag("no-positions", "cli.train_no_positions"),
            flag("causal", "cli.train_causal"),
            option("d-model", "N", "cli.train_d_model"),
            option("heads", "N", "cli.train_heads"),
            option("blocks", "N", "cli.train_blocks"),
            option("lr", "X", "cli.train_lr"),
            option("seed", "N", "cli.train_seed"),
            option("device", "cpu", "cli.train_device"),
            option("precision", "float32|bfloat16", "cli.train_precision"),
            option("threads", "N", "cli.train_threads"),
            option("parallel", "ddp|fsdp", "cli.train_parallel"),
            option("resume", "DIR", "cli.train_resume"),
            option("out", "DIR", "cli.train_out"),
            language_option(text("lang"), language),
        ],
    )


@click.pass_context
def run(
    context: click.Context,
    task: str | None,
    no_positions: bool,
    causal: bool,
    resume: str | None,
    out: str | None,
    lang: Language | None,
    **given: str | None,
) -> None:
    language = spoken(context)
    if task is None and resume is None:
        raise Mistyped(say("cli.train_what", language, tasks=TASKS), context)
    if out is not None and resume is not None:
        raise Mistyped(say("cli.train_out_resume", language), context)
    options: dict[str, Any] = {name: number(value) for name, value in given.items()}
    options |= {"positions": "none" if no_positions else None, "causal": causal or None}

    from mirada.commands.progress import Bar
    from mirada.training.errors import TrainingError
    from mirada.training.loop import train
    from mirada.training.parallel import is_first, says

    bar = Bar(language)
    with speaking(language):
        try:
            finished = train(task, out=out, resume=resume, listener=bar, **options)
        except TrainingError as error:
            if says(error):
                raise
            context.exit(1)
        finally:
            bar.close()
    for line in ending(finished, language) if given["parallel"] is None or is_first() else ():
        click.echo(line)
    if finished.signal is not None:
        context.exit(130)


def number(value: str | None) -> int | float | str | None:
    """What was typed, as a number where it is one; what it must be, the options know."""
    for kind in (int, float):
        try:
            return kind(value)  # pyright: ignore[reportArgumentType]
        except (TypeError, ValueError):
            continue
    return value


def ending(run: "Run", language: Language) -> list[str]:
    """Where the run lies, what it reached, what to type next."""
    lines, folder = [], shlex.quote(str(run.folder))
    if not run.finished:
        lines.append(say("cli.run_stopped", language, step=run.step, steps=run.steps, folder=run.folder))
        return [*lines, say("cli.run_next", language), f"  mirada train --resume {folder}"]
    score = run.score
    assert score is not None
    reached = {
        "tokens": percent(score.tokens, language, 1),
        "sequences": percent(score.sequences, language, 1),
        "loss": decimal(score.loss, language),
        "seconds": decimal(run.metrics[-1]["seconds"], language),
    }
    lines.append(say("cli.run_reached", language, task=run.task.name, **reached))
    lines.append(say("cli.run_lies", language, folder=run.folder))
    _, unseen = run.task.data(run.options.seed)
    question = run.task.show(unseen, 0)[0].strip().splitlines()[-1]  # a text may have many
    return [*lines, say("cli.run_next", language), f"  mirada try {folder} {shlex.quote(question)}"]
