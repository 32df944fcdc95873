"""`mirada train`: learn a task, with a bar that shows how far it is."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Mistyped, counted, language_option, positive, spoken
from mirada.commands.speaking import speaking
from mirada.views.terminal import decimal, percent

if TYPE_CHECKING:
    from mirada.training.runs import Run

TASKS = "reverse, copy, shift, sort, count, addition, reverse-seq2seq, numbers-es, numbers-en, digits"


def build(language: Language) -> Command:
    def text(key: str, **values: object) -> str:
        return say(f"cli.{key}", language, **values)

    def option(name: str, metavar: str, key: str, kind: click.ParamType | None = None) -> click.Option:
        return click.Option([f"--{name}"], metavar=metavar, help=say(key, language), type=kind)

    def count(name: str, key: str, least: int = 1) -> click.Option:
        return option(name, "N", key, counted(name, language, least))

    def flag(name: str, key: str) -> click.Option:
        return click.Option([f"--{name}"], is_flag=True, help=say(key, language))

    return Command(
        "train",
        language,
        callback=run,
        help=text("train", tasks=TASKS),
        params=[
            click.Argument(
                ["task"], required=False, metavar=text("train_task"), help=text("train_task_help")
            ),
            click.Argument(
                ["folder"], required=False, metavar=text("train_folder"), help=text("train_folder_help")
            ),
            count("steps", "cli.train_steps"),
            count("epochs", "cli.train_epochs"),
            flag("no-positions", "cli.train_no_positions"),
            flag("causal", "cli.train_causal"),
            count("d-model", "cli.train_d_model"),
            count("heads", "cli.train_heads"),
            count("blocks", "cli.train_blocks"),
            option("lr", "X", "cli.train_lr", positive("lr", language)),
            count("seed", "cli.train_seed", 0),
            count("side", "cli.train_side"),
            count("patch", "cli.train_patch"),
            option("device", "cpu", "cli.train_device"),
            option("precision", "float32|bfloat16", "cli.train_precision"),
            count("threads", "cli.train_threads"),
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
    folder: str | None,
    side: int | None,
    patch: int | None,
    no_positions: bool,
    causal: bool,
    resume: str | None,
    out: str | None,
    lang: Language | None,
    **given: Any,
) -> None:
    language = spoken(context)
    if task is None and resume is None:
        raise Mistyped(say("cli.train_what", language, tasks=TASKS), context)
    if out is not None and resume is not None:
        raise Mistyped(say("cli.train_out_resume", language), context)
    if (task == "images") != (folder is not None):
        raise Mistyped(say("cli.train_images", language), context)
    sizes: dict[str, Any] = {
        name: size for name, size in (("side", side), ("patch", patch)) if size is not None
    }
    if sizes and task != "images":
        raise Mistyped(say("cli.train_sizes", language), context)
    options = given | {"positions": "none" if no_positions else None, "causal": causal or None}

    from mirada.commands.progress import Bar
    from mirada.training.errors import TrainingError
    from mirada.training.loop import train
    from mirada.training.parallel import is_first, says
    from mirada.training.tasks_images import ImageFolder

    bar = Bar(language)
    with speaking(language):
        try:
            learnt = task if folder is None else ImageFolder(folder, **sizes)
            finished = train(learnt, out=out, resume=resume, listener=bar, **options)
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


def ending(run: "Run", language: Language) -> list[str]:
    """Where the run lies, what it reached, what to type next."""
    lines, folder = [], str(run.folder)
    if not run.finished:
        lines.append(say("cli.run_stopped", language, step=run.step, steps=run.steps, folder=run.folder))
        return [*lines, say("cli.run_next", language), f"  {typed('mirada', 'train', '--resume', folder)}"]
    score = run.score
    assert score is not None
    key = "cli.run_reached_pictures" if run.task.family == "vision" else "cli.run_reached"
    reached = {
        "tokens": percent(score.tokens, language, 1),
        "sequences": percent(score.sequences, language, 1),
        "loss": decimal(score.loss, language),
        "seconds": decimal(run.metrics[-1]["seconds"], language),
    }
    lines.append(say(key, language, task=run.task.name, **reached))
    lines.append(say("cli.run_lies", language, folder=run.folder))
    if question := example(run):
        lines += [say("cli.run_next", language), f"  {typed('mirada', 'try', folder, question)}"]
    return lines


def example(run: "Run") -> str:
    """A question that the run has not seen; none where its task cannot be asked for one any more."""
    try:
        _, unseen = run.task.data(run.options.seed)
        return run.task.show(unseen, 0)[0].strip().splitlines()[-1]  # a text may have many
    except Exception:  # the run is done and saved: what its task does now is no reason to say that it failed
        return ""


def typed(*words: str) -> str:
    """A command as one can paste it."""
    first = next((i for i, word in enumerate(words[2:], 2) if word.startswith("-") and word != "--resume"), 0)
    words = (*words[:2], "--", *words[2:]) if first and "--resume" not in words else words
    return shlex.join(words)
