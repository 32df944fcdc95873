"""`mirada try`: ask a run something, and see whom each position looks at."""

import shutil
import sys
from typing import TYPE_CHECKING

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Failure, counted, language_option, spoken
from mirada.commands.speaking import speaking
from mirada.views.terminal import written_look, written_picture

if TYPE_CHECKING:
    from mirada.watching.gaze import Gaze
    from mirada.watching.look import Look


def build(language: Language) -> Command:
    def text(key: str) -> str:
        return say(f"cli.{key}", language)

    return Command(
        "try",
        language,
        callback=run,
        help=text("try"),
        params=[
            click.Argument(["folder"], metavar=text("run_folder"), help=text("run_folder_help")),
            click.Argument(["question"], metavar=text("try_question"), help=text("try_question_help")),
            click.Option(
                ["--block"], metavar="N", help=text("try_block"), type=counted("block", language, 0)
            ),
            click.Option(["--head"], metavar="N", help=text("try_head"), type=counted("head", language, 0)),
            language_option(text("lang"), language),
        ],
    )


@click.pass_context
def run(
    context: click.Context,
    folder: str,
    question: str,
    block: int | None,
    head: int | None,
    lang: Language | None,
) -> None:
    language = spoken(context)
    from mirada.training.images_task import ImagesTask
    from mirada.training.runs import load_run

    with speaking(language):
        found = load_run(folder)
        answer = found.answer(question)
        gaze = found.gaze(answer)
    looks = main_looks(gaze)
    chosen = chosen_one("block", block, len(looks), -1)
    look = looks[chosen]
    heads = len(look.heads)
    which = chosen_one("head", head, heads, 0)
    click.echo(f"{answer.question} → {answer.text}\n")
    said = {"block": chosen, "blocks": len(looks), "head": which, "heads": heads}
    ascii = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    if isinstance(found.task, ImagesTask):
        click.echo(say("look.picture", language, **said))
        for line in written_picture(look, which, found.task.grid, language, ascii=ascii):
            click.echo(line)
        return
    click.echo(say("look.cross" if look.kind == "cross" else "look.self", language, **said))
    size = shutil.get_terminal_size().columns
    for line in written_look(look, which, answer.tokens[-1], language, width=size, ascii=ascii):
        click.echo(line)


def chosen_one(name: str, place: int | None, count: int, default: int) -> int:
    """Which block or head; a Failure where there is none of that number."""
    if place is None:
        return default % count
    if place >= count:
        raise Failure("look.no_such", name=f"--{name}", value=place, last=count - 1)
    return place


def main_looks(gaze: "Gaze") -> list["Look"]:
    """Those of each block in which the answer is looked for: at the source, where there is one."""
    return [look for look in gaze if look.kind == "cross"] or list(gaze)
