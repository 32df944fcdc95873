"""What a run makes of what a person typed, and whom it looks at meanwhile."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mirada.training.families import EncoderTask, spell
from mirada.training.number_words import Tongue, in_words
from mirada.training.runs import Run, load_run
from mirada.training.task import Answer
from mirada.training.tasks_decoder import Addition
from mirada.training.tasks_pairs import NumberWords, ReversePairs


def answered(folder: Path, text: str) -> dict[str, Any]:
    """Question, answer and right answer, and a scene for each head. TrainingError for what cannot be read."""
    run = load_run(folder)
    answer = run.answer(text)
    gaze = run.gaze(answer)
    # In an encoder-decoder the answer is looked for at the source.
    across = [look for look in gaze if look.kind == "cross"]
    rows, columns = answer.tokens[-1], answer.tokens[0 if across else -1]
    scenes = [
        {"block": block, "head": head, "scene": replace(look.scene(head), rows=rows).to_dict()}
        for block, look in enumerate(across or gaze)
        for head in range(len(look.heads))
    ]
    return {
        "question": answer.question,
        "answer": answer.text,
        "right": right(run, answer),
        "tokens": {"rows": rows, "columns": columns},
        "scenes": scenes,
    }


def right(run: Run, answer: Answer) -> str | None:
    """What should have been answered; None where nobody can say."""
    match run.task:
        case EncoderTask() as task:
            return spell(task.targets(answer.inputs[0])[0], task.answers)
        case ReversePairs():
            return answer.question[::-1]
        case Addition():
            a, b = answer.question.rstrip("=").split("+")
            return str(int(a) + int(b))
        case NumberWords() as task:
            number = number_of(answer.question.split(), task.tongue)
            return None if number is None else str(number)
    return None


def number_of(words: list[str], tongue: Tongue) -> int | None:
    """The number that these words are; None where they are none."""
    thousands = {tuple(in_words(number, tongue)): number for number in range(0, 1_000_000, 1000)}
    rest = {tuple(in_words(number, tongue)): number for number in range(1000)}
    for cut in range(len(words) + 1):
        number = thousands.get(tuple(words[:cut]), 0) + rest.get(tuple(words[cut:]), 0)
        if in_words(number, tongue) == words:
            return number
    return None
