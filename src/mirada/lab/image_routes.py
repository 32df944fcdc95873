"""The routes of the Images page: two samples, a person's own picture, who can look, and where it looks."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from mirada.catalogue import say
from mirada.lab.guard import TOKEN_HEADER
from mirada.lab.problems import Problem
from mirada.lab.routes import only_language
from mirada.lab.tasks import tasks
from mirada.lab.train_routes import HeadScene, RunTold, answer, failures, jobs_of, language_of
from mirada.lab.wishes import read_object

NEW = "new"  # the name of the model that has learnt nothing
DIGITS, PHOTOS = "digits", "images"  # the tasks whose runs can look
CELLS, INK = 64, 16
# What was done to a picture, as it is said.
NOTES = {
    "rotated": "picture.note_rotated",
    "transparent": "picture.note_transparent",
    "first_frame": "picture.note_first_frame",
    "grey": "picture.note_grey",
    "stretched": "picture.note_stretched",
}
# The pictures that come with scikit-learn, both CC BY 2.0. Every fourth pixel, then the first of these rows.
SAMPLES = {"sample": ("china.jpg", 0), "flower": ("flower.jpg", 5)}


class Looker(BaseModel):
    """Who can look at pictures. score: the share of pictures that it had never seen and names rightly."""

    id: str
    kind: Literal["new", "digits", "photos"]
    parameters: int | None
    score: float | None


class Lookers(BaseModel):
    """digits: where no run of that task has finished, the one that may become it."""

    models: list[Looker]
    digits: str | None


class Opened(BaseModel):
    """A person's picture: its size, a PNG (base64) of at most 640 pixels a side, what was done to it."""

    width: int
    height: int
    picture: str
    notes: list[str]


class Share(BaseModel):
    label: str
    share: float


class Seen(BaseModel):
    """pixels: what the model reads, a PNG (base64); grid: rows and columns of patches of `patch` pixels."""

    pixels: str
    grid: list[int]
    patch: int
    channels: int
    tokens: list[str]
    probabilities: list[Share] | None
    scenes: list[HeadScene]


LOOK_WANT = '{"model": "…", "picture": "…"}'
DIGIT_WANT = '{"model": "…", "cells": [0, 3, 16, …]}'
NAME = {"type": "string", "maxLength": 255}
LOOK = {
    "type": "object",
    "required": ["model", "picture"],
    "additionalProperties": False,
    "properties": {"model": NAME, "picture": {"type": "string"}},
}
DIGIT = {
    "type": "object",
    "required": ["model", "cells"],
    "additionalProperties": False,
    "properties": {
        "model": NAME,
        "cells": {
            "type": "array",
            "minItems": CELLS,
            "maxItems": CELLS,
            "items": {"type": "integer", "minimum": 0, "maximum": INK},
        },
    },
}
NOTHING = {"type": "object", "additionalProperties": False, "properties": {}}

pictures = APIRouter(include_in_schema=False)
api = APIRouter(
    prefix="/api/images",
    dependencies=[Security(APIKeyHeader(name=TOKEN_HEADER, auto_error=False)), Depends(only_language)],
    responses=failures(400, 401, 403, 405, 413, 421, 422, 500),
)


def asks(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema}}}}


@pictures.get("/images/{name}.png")
def sample(name: str) -> Response:
    """A photograph to begin with."""
    if name not in SAMPLES:
        raise Problem(404, "missing")
    return Response(sample_png(*SAMPLES[name]), media_type="image/png")


@cache
def sample_png(file: str, row: int) -> bytes:
    """96 × 160 pixels. The file alone is read: importing scikit-learn would take a second."""
    import numpy as np
    from PIL import Image

    found = find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise Problem(404, "missing")
    with Image.open(Path(found.submodule_search_locations[0], "datasets", "images", file)) as image:
        pixels = np.asarray(image.convert("RGB"))[::4, ::4][row : row + 96, :160]
    small = Image.fromarray(np.ascontiguousarray(pixels))
    data = BytesIO()
    small.save(data, "PNG")
    return data.getvalue()


@api.post(
    "",
    response_model=Opened,
    responses=failures(415),
    openapi_extra=asks({"type": "string", "format": "binary"}, "application/octet-stream"),
)
async def open_own(request: Request) -> Response:
    """A person's own picture, checked and made smaller. Nothing of it is kept."""
    if (
        request.headers.get("content-type", "").partition(";")[0].strip().lower()
        != "application/octet-stream"
    ):
        raise Problem(415, "type_picture")
    data, language = await request.body(), language_of(request)
    name = say("picture.yours", language)
    told = await run_in_threadpool(looked, lambda looking: looking.opened(data, name))
    return JSONResponse(told | {"notes": [say(NOTES[note], language) for note in told["notes"]]})


@api.get("/models", response_model=Lookers)
def models(request: Request) -> Response:
    """Who can look."""
    found: list[dict[str, Any]] = [{"id": NEW, "kind": "new", "parameters": None, "score": None}]
    learning = None
    for told in jobs_of(request).all():
        if told["task"] not in (DIGITS, PHOTOS) or told["id"] == NEW:  # which could not be told from ours
            continue
        if told["state"] == "finished":
            kind = "digits" if told["task"] == DIGITS else "photos"
            score = told["score"] and told["score"]["tokens"]
            found.append({"id": told["id"], "kind": kind, "parameters": told["parameters"], "score": score})
        elif told["task"] == DIGITS and learning is None:
            learning = told["id"]
    learnt = any(each["kind"] == "digits" for each in found)
    return JSONResponse({"models": found, "digits": None if learnt else learning})


@api.post(
    "/digits", response_model=RunTold, responses=failures(409, 415, 429, 507), openapi_extra=asks(NOTHING)
)
async def learn_digits(request: Request) -> Response:
    """Teach the model of digits: the run there is goes on, else a new one begins, at once or in its turn."""
    read_object(request.headers.get("content-type"), await request.body(), "{}", (), ())
    jobs = jobs_of(request)

    def begin() -> Any:
        with jobs.lock:  # two pages that ask at once get the same one
            runs = [told for told in jobs.all() if told["task"] == DIGITS]
            for state in ("finished", "running", "waiting"):
                for told in runs:
                    if told["state"] == state:
                        return jobs.job(told["id"])
            for told in runs:
                if told["step"] < told["steps"] and told["steps"]:
                    return jobs.resume(told["id"])
            return jobs.start(DIGITS, dict(tasks()[DIGITS]["options"]))

    return answer(request, await run_in_threadpool(begin))


@api.post("/look", response_model=Seen, responses=failures(404, 415), openapi_extra=asks(LOOK))
async def look(request: Request) -> Response:
    """Where each patch of a picture looks."""
    given = read_object(
        request.headers.get("content-type"), await request.body(), LOOK_WANT, *[("model", "picture")] * 2
    )
    model, picture = given["model"], given["picture"]
    if not isinstance(model, str) or not isinstance(picture, str):
        raise Problem(422, "body", {"want": LOOK_WANT})

    name = say("picture.yours", language_of(request))

    def do(looking: Any) -> dict[str, Any]:
        if model == NEW:
            return looking.seen_by_new(picture, name)
        return looking.seen_by_run(folder_of(request, model, PHOTOS), picture, name)

    return JSONResponse(await run_in_threadpool(looked, do))


@api.post("/digit", response_model=Seen, responses=failures(404, 415), openapi_extra=asks(DIGIT))
async def digit(request: Request) -> Response:
    """Which digit it is, and where each of its patches looks."""
    given = read_object(
        request.headers.get("content-type"), await request.body(), DIGIT_WANT, *[("model", "cells")] * 2
    )
    model, cells = given["model"], given["cells"]
    good = isinstance(model, str) and isinstance(cells, list) and len(cells) == CELLS
    if not good or not all(type(x) is int and 0 <= x <= INK for x in cells):
        raise Problem(422, "body", {"want": DIGIT_WANT})
    return JSONResponse(
        await run_in_threadpool(
            looked, lambda looking: looking.seen_digit(folder_of(request, model, DIGITS), cells)
        )
    )


def folder_of(request: Request, name: str, task: str) -> Path:
    """Where a run lies that can look at such pictures. Problem 404 for none, 422 for another one."""
    job = jobs_of(request).job(name)
    if job.task != task or job.state != "finished":
        raise Problem(422, "no_looker", {"name": name})
    return job.folder


def looked(do: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    # The first one imports torch: a second or two.
    from mirada.lab import looking
    from mirada.training.errors import TrainingError

    try:
        return do(looking)
    except TrainingError as error:
        status = 413 if error.key in ("picture.large", "picture.bomb") else 422
        raise Problem.with_sentence(status, error.key, error.values) from None
