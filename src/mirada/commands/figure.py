"""`mirada figure`: how the attention of a run came about, as a strip of maps."""

from pathlib import Path

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Failure, counted, language_option, spoken
from mirada.commands.attempt import chosen_one
from mirada.commands.export import unwritten
from mirada.commands.speaking import speaking

MOMENTS = 6  # side by side, as many as one can look at


def build(language: Language) -> Command:
    def text(key: str, **values: object) -> str:
        return say(f"cli.{key}", language, **values)

    return Command(
        "figure",
        language,
        callback=run,
        help=text("figure"),
        params=[
            click.Argument(["folder"], metavar=text("run_folder"), help=text("run_folder_help")),
            click.Option(
                ["--block"], metavar="N", help=text("figure_block"), type=counted("block", language, 0)
            ),
            click.Option(["--output"], metavar="maps.svg", help=text("figure_output")),
            language_option(text("lang"), language),
        ],
    )


@click.pass_context
def run(
    context: click.Context, folder: str, block: int | None, output: str | None, lang: Language | None
) -> None:
    language = spoken(context)
    from mirada.commands.moments import telling
    from mirada.training.runs import load_run
    from mirada.views import figures

    with speaking(language):
        found = load_run(folder)
    if not found.snapshots:
        raise Failure("cli.run_no_maps", folder=folder)
    maps = found.maps["cross" if "cross" in found.maps else "self"]  # (snapshots, blocks, heads, rows, keys)
    chosen = chosen_one("block", block, maps.shape[1], -1)
    moments = telling(maps[:, chosen], MOMENTS)
    titles = [say("cli.run_moment", language, step=found.snapshots[i]) for i in moments]
    names = [say("cli.run_head", language, head=head) for head in range(maps.shape[2])]
    path = Path(folder) / "maps.svg" if output is None else Path(output)
    try:
        drawn = figures.strip(maps[moments, chosen], titles=titles, names=names, language=language)
        figures.save(drawn, path)
    except ImportError:
        raise Failure("cli.no_figures") from None
    except ValueError as error:
        raise Failure("cli.run_not_drawn", path=path, reason=error) from None
    except OSError as error:
        raise unwritten(error, path, Path(folder) / "maps.svg") from None
    click.echo(say("cli.run_drawn", language, path=path))
