"""What training says, in the reader's language."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from mirada.catalogue import Language, say
from mirada.command import Failure


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """A TrainingError becomes a Failure of the command, a TrainingWarning a sentence on stderr."""
    from mirada.training.errors import TrainingError, TrainingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", TrainingWarning)
        others = warnings.showwarning

        def show(message, *rest, **more):
            if isinstance(message, TrainingWarning):
                click.echo(say(message.key, language, **message.values), err=True)
            else:
                others(message, *rest, **more)

        warnings.showwarning = show
        try:
            yield
        except TrainingError as error:
            raise Failure(error.key, **error.values) from None
