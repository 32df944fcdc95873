"""The routes of the Train page: tasks, runs, what happens in them, and what they answer."""

import json
from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse

from mirada.catalogue import Language, say
from mirada.lab.guard import TOKEN_HEADER
from mirada.lab.job import Job, State
from mirada.lab.jobs import Jobs
from mirada.lab.problems import Problem, asked_language
from mirada.lab.routes import Failure, only_language
from mirada.lab.tasks import tasks
from mirada.lab.wishes import QUESTION, WISH, read_question, read_wish

HEARTBEAT = 15.0  # seconds of silence until a comment says that the connection still stands

Table = list[list[float | None]]


class Options(BaseModel):
    """How a task is learnt, as far as the page lets one choose. Steps, epochs, or the shorter of both."""

    positions: bool
    causal: bool
    epochs: int | None
    steps: int | None
    d_model: int
    heads: int
    blocks: int
    seed: int


class TaskTold(BaseModel):
    """A task with an example, and what it does unless told otherwise. An epoch takes `epoch` steps."""

    name: str
    family: Literal["encoder", "decoder", "encoder_decoder"]
    question: str
    answer: str
    steps: int
    epoch: int
    options: Options


class Tasks(BaseModel):
    tasks: list[TaskTold]


class Score(BaseModel):
    """How good it was on what it had never seen: mean loss, shares of tokens and of whole answers."""

    loss: float | None
    tokens: float | None
    sequences: float | None


class RunTold(BaseModel):
    """A run. `place` is that in the line, from 1; `ours` says whether this lab trains it, or did.

    What has a step after `step` in a "run" event is to be forgotten: it will be done again.
    """

    id: str
    task: str
    family: Literal["encoder", "decoder", "encoder_decoder", "vision"] | None
    options: Options
    state: State
    place: int | None
    step: int
    steps: int
    parameters: int | None
    score: Score | None
    heads: int
    blocks: int
    error: str | None
    warning: str | None
    ours: bool


class Runs(BaseModel):
    runs: list[RunTold]


class Maps(BaseModel):
    """The maps of one moment: (blocks, heads, rows, keys), null where nobody may look."""

    step: int
    kind: str
    maps: list[list[Table]]


class RunWhole(RunTold):
    """A run with all that it came to; `event` is the number of the newest event that this includes."""

    metrics: list[dict[str, Any]]
    maps: list[Maps]
    event: int


class Tokens(BaseModel):
    rows: list[str]
    columns: list[str]


class HeadScene(BaseModel):
    block: int
    head: int
    scene: dict[str, Any]


class Answered(BaseModel):
    """Question as it was understood, answer, right answer (null where nobody can say), one scene a head."""

    question: str
    answer: str
    right: str | None
    tokens: Tokens
    scenes: list[HeadScene]


def failures(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Failure} for code in codes}


api = APIRouter(
    prefix="/api",
    dependencies=[Security(APIKeyHeader(name=TOKEN_HEADER, auto_error=False)), Depends(only_language)],
    responses=failures(400, 401, 403, 405, 413, 421, 422, 500),
)


def jobs_of(request: Request) -> Jobs:
    return request.app.state.jobs


def language_of(request: Request) -> Language:
    return asked_language(request.scope, request.app.state.language)


def spoken(told: dict[str, Any], language: Language) -> dict[str, Any]:
    """A run with its sentences said."""
    said = {}
    for name in ("error", "warning"):
        if told[name] is not None:
            key, values = told[name]
            said[name] = say(key, language, **values)
    return told | said


def answer(request: Request, job: Job, status: int = 200) -> Response:
    return JSONResponse(spoken(jobs_of(request).told(job), language_of(request)), status)


@api.get("/tasks", response_model=Tasks)
def all_tasks() -> Response:
    """What can be learnt on the Train page; what reads pictures has a page of its own."""
    return JSONResponse({"tasks": [task for task in tasks().values() if task["family"] != "vision"]})


@api.get("/runs", response_model=Runs)
def all_runs(request: Request) -> Response:
    """All runs in the folder, the newest first: those of this lab, and those made on the command line."""
    language = language_of(request)
    return JSONResponse({"runs": [spoken(told, language) for told in jobs_of(request).all()]})


@api.post(
    "/runs",
    response_model=RunTold,
    status_code=201,
    responses=failures(415, 429, 507),
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": WISH}}}},
)
async def new_run(request: Request) -> Response:
    """Learn a task: at once, or when its turn comes."""
    task, options = read_wish(request.headers.get("content-type"), await request.body())
    job = await run_in_threadpool(jobs_of(request).start, task, options)
    return answer(request, job, 201)


@api.get("/runs/{id}", response_model=RunWhole, responses=failures(404))
def one_run(request: Request, id: str) -> Response:
    """A run with its metrics and maps so far."""
    return JSONResponse(spoken(jobs_of(request).whole(id), language_of(request)))


@api.post("/runs/{id}/pause", response_model=RunTold, responses=failures(404, 409))
def pause(request: Request, id: str) -> Response:
    """Save it, and let it rest."""
    return answer(request, jobs_of(request).stop(id, "paused"))


@api.post("/runs/{id}/cancel", response_model=RunTold, responses=failures(404, 409))
def cancel(request: Request, id: str) -> Response:
    """Save it, and have done with it."""
    return answer(request, jobs_of(request).stop(id, "cancelled"))


@api.post("/runs/{id}/resume", response_model=RunTold, responses=failures(404, 409, 429))
def resume(request: Request, id: str) -> Response:
    """Go on from what was saved: at once, or when its turn comes."""
    return answer(request, jobs_of(request).resume(id))


@api.get(
    "/runs/{id}/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}, **failures(404)},
)
async def events(request: Request, id: str) -> Response:
    """What happens in a run, as server-sent events: "run", "line", "maps", and an "end" where it ends.

    From the first one, or after the one that the header Last-Event-ID names.
    """
    job = await run_in_threadpool(jobs_of(request).job, id)
    if request.scope.get("mirada.head"):
        return Response(media_type="text/event-stream")
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isascii() and last.isdigit() and len(last) < 18 else 0
    return StreamingResponse(
        stream(jobs_of(request), job, after, language_of(request)), media_type="text/event-stream"
    )


async def stream(jobs: Jobs, job: Job, after: int, language: Language) -> AsyncIterator[str]:
    async for happening in job.log.follow(after, HEARTBEAT):
        if happening is None:
            yield ":\n\n"
            continue
        data = happening.data
        text = data if isinstance(data, str) else json.dumps(spoken(data, language))
        yield f"id: {happening.number}\nevent: {happening.name}\ndata: {text}\n\n"
    # Without a number: it is no part of what happened, and a run that is resumed goes on.
    yield f"event: end\ndata: {json.dumps(spoken(jobs.told(job), language))}\n\n"


@api.post(
    "/runs/{id}/answer",
    response_model=Answered,
    responses=failures(404, 415),
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": QUESTION}}}},
)
async def ask(request: Request, id: str) -> Response:
    """What the run makes of a question, as far as it is saved, and whom its heads look at meanwhile."""
    text = read_question(request.headers.get("content-type"), await request.body())
    job = await run_in_threadpool(jobs_of(request).job, id)
    return JSONResponse(await run_in_threadpool(answer_of, job, text))


def answer_of(job: Job, text: str) -> dict[str, Any]:
    # The first one imports torch: a second or two.
    from mirada.lab.answers import answered
    from mirada.training.errors import TrainingError

    if job.damaged is not None:
        raise Problem.with_sentence(422, *job.damaged)
    try:
        return answered(job.folder, text)
    except TrainingError as error:
        raise Problem.with_sentence(422, error.key, error.values) from None
