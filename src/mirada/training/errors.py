"""What goes wrong in training, as a sentence of the catalogue: it can be said in any of its languages."""

from mirada.catalogue import say


class TrainingError(Exception):
    """Training, or reading a run, cannot go on. `key` names the sentence, `values` fill it."""

    def __init__(self, key: str, /, **values: object):
        super().__init__(key)
        self.key, self.values = key, values

    def __str__(self) -> str:
        return say(self.key, "en", **self.values)


def unreadable(error: OSError, path: object) -> TrainingError:
    return TrainingError("training.unreadable", path=path, reason=error.strerror or error)


class TrainingWarning(UserWarning):
    """Something was amiss and could be helped; as TrainingError."""

    def __init__(self, key: str, /, **values: object):
        super().__init__(key)
        self.key, self.values = key, values

    def __str__(self) -> str:
        return say(self.key, "en", **self.values)
