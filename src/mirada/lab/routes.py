"""What the lab serves: the pages, one of them as a file, and the library's own numbers for a scene."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, Response

import mirada.views.scene
from mirada import __version__
from mirada.catalogue import LANGUAGES, Language, say
from mirada.lab.bodies import plain, read_json
from mirada.lab.guard import TOKEN_HEADER
from mirada.lab.problems import Problem, asked_language
from mirada.views.page import ICON, BundleMissing, assemble, policy, read_bundle
from mirada.views.scene import Scene

# A scene that the lab computes is one that a person can look at.
MOST_TOKENS = 512
MOST_NUMBERS = 256

pages = APIRouter(include_in_schema=False)


@pages.get("/")
@pages.get("/words")
def words(request: Request) -> Response:
    """The Words page; "/words" is the address that stays when other pages come."""
    return page_of(request, "lab", "words")


@pages.get("/train")
def train(request: Request) -> Response:
    """The Train page."""
    return page_of(request, "train", "train")


@pages.get("/images")
def images(request: Request) -> Response:
    """The Images page."""
    return page_of(request, "images", "images")


def page_of(
    request: Request, built: Literal["lab", "train", "images"], page: Literal["words", "train", "images"]
) -> Response:
    language = asked_language(request.scope, request.app.state.language)
    try:
        bundle = read_bundle(language, name=built)
    except BundleMissing as missing:
        raise Problem(500, "bundle", {"path": missing.path}) from None
    state = request.app.state
    html = assemble(bundle, language, page=page, host="lab", token=state.token, run=state.run)
    guarded = f"{policy(bundle, 'lab')}; frame-ancestors 'none'"
    return HTMLResponse(html, headers={"Content-Security-Policy": guarded, "Content-Language": language})


@pages.get("/export/words.html")
def export_words(request: Request) -> Response:
    """The same page as one file, to be kept."""
    language = asked_language(request.scope, request.app.state.language)
    try:
        html = assemble(read_bundle(language), language)
    except BundleMissing as missing:
        raise Problem(500, "bundle", {"path": missing.path}) from None
    name = say("export.words_name", language)
    return HTMLResponse(html, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@pages.get("/favicon.ico")
def favicon() -> Response:
    return Response(ICON, media_type="image/svg+xml")


class Refusal(BaseModel):
    """Why something was not done: a code, a sentence in the language asked for, the library's own words."""

    code: str
    message: str
    detail: str | None = None


class Failure(BaseModel):
    error: Refusal


class About(BaseModel):
    name: str
    version: str
    torch: str
    pages: list[str]
    languages: list[str]


class Computed(BaseModel):
    """A scene as the library computes it, in float64.

    weights: (rows, columns). output: (rows, width of the values), null without values.
    largest_row_sum_deviation: how far from 1 (from 0, where nobody may be looked at) the worst row's sum is.
    """

    weights: list[list[float]]
    output: list[list[float]] | None
    largest_row_sum_deviation: float


def only_language(request: Request, lang: Language | SkipJsonSchema[None] = None) -> None:
    """Every call may name a language with ?lang= (see `asked_language`), and nothing else."""
    if set(request.query_params) - {"lang"}:
        raise Problem(422, "query")


def inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """A JSON schema without references, as an OpenAPI document can take it anywhere."""
    if isinstance(schema, list):
        return [inlined(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")] | schema
    kept = {name: each for name, each in schema.items() if name not in ("$ref", "$defs", "$schema")}
    return {name: inlined(each, definitions) for name, each in kept.items()}


SCHEMA = json.loads(Path(mirada.views.scene.__file__).with_name("scene.schema.json").read_text("utf-8"))
SCENE_BODY = {"application/json": {"schema": inlined(SCHEMA, SCHEMA["$defs"])}}

api = APIRouter(
    prefix="/api",
    dependencies=[Security(APIKeyHeader(name=TOKEN_HEADER, auto_error=False)), Depends(only_language)],
    responses={code: {"model": Failure} for code in (400, 401, 403, 405, 413, 421, 422, 500)},
)


@api.get("/about")
def about() -> About:
    """What is running."""
    return About(
        name="mirada",
        version=__version__,
        torch=version("torch"),
        pages=["words", "train", "images"],
        languages=list(LANGUAGES),
    )


@api.post(
    "/scene/weights",
    response_model=Computed,
    responses={415: {"model": Failure}},
    openapi_extra={"requestBody": {"required": True, "content": SCENE_BODY}},
)
async def scene_weights(request: Request) -> Response:
    """A scene's weights and output, computed by the library."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "type")
    return JSONResponse(await run_in_threadpool(compute, await request.body()))


def read_scene(body: bytes) -> Scene:
    given = read_json(body)
    try:
        scene = Scene.from_dict(given)
    except ValueError as error:
        raise Problem(422, "scene", detail=plain(error)) from None
    tokens = max(len(scene.rows), len(scene.columns))
    numbers = max(scene.head_dim, len(scene.value[0]) if scene.value else 0)
    if tokens > MOST_TOKENS or numbers > MOST_NUMBERS:
        raise Problem(413, "scene_size", {"tokens": MOST_TOKENS, "numbers": MOST_NUMBERS})
    return scene


def compute(body: bytes) -> dict[str, Any]:
    scene = read_scene(body)
    weights = scene.weights()  # the first one imports torch: a second or two
    sums = weights.sum(-1)
    return {
        "weights": weights.tolist(),
        "output": scene.output().tolist() if scene.value else None,
        "largest_row_sum_deviation": float((sums - sums.round()).abs().max()),
    }
