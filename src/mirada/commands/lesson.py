"""`mirada lesson`: the lesson's pages where they were built, else its notebooks in the reader's folder."""

import os
import shlex
import shutil
import webbrowser
from pathlib import Path

import click

from mirada.catalogue import Language, say
from mirada.command import Command, Failure, language_option, spoken


def build(language: Language) -> Command:
    def text(key: str) -> str:
        return say(f"cli.{key}", language)

    return Command(
        "lesson",
        language,
        callback=run,
        help=text("lesson"),
        params=[
            click.Option(["--notebooks"], metavar=text("run_folder"), help=text("lesson_notebooks")),
            language_option(text("lesson_lang"), language),
            click.Option(["--no-browser"], is_flag=True, help=text("lesson_no_browser")),
        ],
    )


@click.pass_context
def run(context: click.Context, notebooks: str | None, lang: Language | None, no_browser: bool) -> None:
    from mirada.lesson.chapters import site

    language = spoken(context)
    page = site(lang or language)
    if notebooks is None and page is not None:
        click.echo(say("lesson.pages", language, path=page))
        if not no_browser and os.environ.get("MIRADA_LAB_BROWSER") != "0":
            webbrowser.open(page.as_uri())
        return
    folder = Path(notebooks or say("lesson.folder", language))
    try:
        kept = written(folder, lang or language)
    except OSError as error:
        raise Failure("lesson.unwritable", folder=folder, reason=error.strerror) from None
    click.echo(say("lesson.written", language, folder=folder))
    if kept:
        click.echo(say("lesson.kept", language, names=", ".join(kept)))
    key = "lesson.start" if shutil.which("jupyter-lab") else "lesson.start_after_install"
    click.echo(say(key, language, folder=shlex.quote(str(folder))))


def written(folder: Path, language: Language) -> list[str]:
    """Writes every notebook that is not there yet, and gives the names of those that say something else."""
    from mirada.lesson.chapters import chapters
    from mirada.lesson.notebook import notebook

    folder.mkdir(parents=True, exist_ok=True)
    kept = []
    for chapter in chapters(language):
        path, text = folder / f"{chapter.name}.ipynb", notebook(chapter)
        try:
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                try:
                    file.write(text)
                    file.flush()
                except OSError:
                    path.unlink()  # half a notebook would be kept for ever
                    raise
        except FileExistsError:
            if not path.is_file() or path.read_bytes() != text.encode():
                kept.append(path.name)
    return kept
