"""What a page may ask of a run: read from JSON, and refused in a sentence where this machine would suffer.

The library's own checks come again in the run's process; these need no torch, and know how much is too much.
"""

import json
from typing import Any

from mirada.lab.bodies import read_json
from mirada.lab.problems import Problem
from mirada.lab.tasks import tasks

# name: the least and the most. A person looks on, and the machine stays usable.
LIMITS = {
    "epochs": (1, 100),
    "steps": (1, 100_000),
    "d_model": (2, 256),
    "heads": (1, 8),
    "blocks": (1, 6),
    "seed": (0, 2**31 - 1),
}
FLAGS = ("positions", "causal")
NAMES = (*FLAGS, *LIMITS)
MOST_TEXT = 1000

WISH = {
    "type": "object",
    "required": ["task"],
    "additionalProperties": False,
    "properties": {
        "task": {"enum": list(tasks())},
        "options": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: {"type": "boolean"} for name in FLAGS}
            | {
                name: {"type": "integer", "minimum": least, "maximum": most}
                for name, (least, most) in LIMITS.items()
            },
        },
    },
}
QUESTION = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {"text": {"type": "string", "maxLength": MOST_TEXT}},
}


def read_wish(kind: str | None, body: bytes) -> tuple[str, dict[str, Any]]:
    """The name of a task, and all options that the page shows, the task's own where none were given."""
    given = read_object(kind, body, '{"task": …, "options": {…}}', ("task",), ("task", "options"))
    task, wished = given["task"], given.get("options", {})
    if not isinstance(task, str) or task not in tasks():
        raise Problem(422, "task", {"name": shortened(task), "names": ", ".join(tasks())})
    if not isinstance(wished, dict):
        raise Problem(422, "body", {"want": '{"task": …, "options": {…}}'})
    for name, value in wished.items():
        check(name, value)
    options = dict(tasks()[task]["options"])
    if "steps" in wished or "epochs" in wished:  # who says how long, says it alone
        options |= {"steps": None, "epochs": None}
    options |= wished
    if options["d_model"] % options["heads"]:
        raise Problem.with_sentence(422, "training.heads", options)
    if options["causal"] and tasks()[task]["family"] != "encoder":
        raise Problem.with_sentence(422, "training.causal", {"task": task})
    return task, options


def check(name: str, value: Any) -> None:
    if name in FLAGS:
        good, want = isinstance(value, bool), "true, false"
    elif name in LIMITS:
        least, most = LIMITS[name]
        good, want = type(value) is int and least <= value <= most, f"{least:,} … {most:,}"
    else:
        raise Problem(422, "option", {"name": shortened(name), "names": ", ".join(NAMES)})
    if not good:
        raise Problem(422, "bad_option", {"name": name, "value": shortened(value), "want": want})


def read_question(kind: str | None, body: bytes) -> str:
    """What a person typed."""
    text = read_object(kind, body, '{"text": "…"}', ("text",), ("text",))["text"]
    if not isinstance(text, str):
        raise Problem(422, "body", {"want": '{"text": "…"}'})
    if len(text) > MOST_TEXT:
        raise Problem(422, "text_size", {"most": MOST_TEXT})
    return text.encode("utf-8", "replace").decode()  # half a character could not be said again


def read_object(
    kind: str | None, body: bytes, want: str, must: tuple[str, ...], may: tuple[str, ...]
) -> dict[str, Any]:
    if (kind or "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "type_json")
    given = read_json(body)
    if not isinstance(given, dict) or not set(must) <= set(given) <= set(may):
        raise Problem(422, "body", {"want": want})
    return given


def shortened(value: Any) -> str:
    """A value as it was written, as far as it fits into a sentence."""
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:39] + "…"
