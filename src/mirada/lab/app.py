"""The lab's application: routes behind the guard, every fault a sentence."""

import secrets
from collections.abc import Collection

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from mirada import __version__
from mirada.catalogue import Language
from mirada.lab import image_routes, routes, train_routes
from mirada.lab.guard import Guard
from mirada.lab.jobs import Jobs, runs_folder
from mirada.lab.problems import Problem, answer

ROUTERS = (routes.pages, routes.api, train_routes.api, image_routes.pictures, image_routes.api)
# A picture may be larger than anything else that is sent; what is in it has a limit of its own.
LARGER = {"/api/images": 20 * 2**20}


def create_app(
    token: str,
    language: Language | None = None,
    *,
    hosts: Collection[str],
    any_address: bool = False,
    jobs: Jobs | None = None,
) -> FastAPI:
    """The lab as an ASGI application.

    Args:
        token: the secret of this run; pages carry it, and the API asks for it in X-Mirada-Token.
        language: of the pages and answers where the address does not name one; None asks the browser.
        hosts: the Host headers that are ours, see `guard.host_headers`.
        any_address: the server listens on every address of the machine.
        jobs: the runs; those in the folder `runs_folder()` unless given.
    """
    # FastAPI's own documentation pages come from another host; the schema stands behind the token.
    app = FastAPI(
        title="Mirada",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
    )
    app.state.token = token
    app.state.language = language
    app.state.run = language and f"{language}-{secrets.token_hex(4)}"
    app.state.jobs = jobs or Jobs(runs_folder())
    for router in ROUTERS:
        app.include_router(router)
    guarded = {"hosts": hosts, "any_address": any_address, "larger": LARGER}
    app.add_middleware(Guard, token=token, language=language, **guarded)

    def say_problem(request: Request, error: Exception) -> Response:
        return answer(as_problem(error, request), request.scope, language)

    for kind in (Problem, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, say_problem)
    return app


def as_problem(error: Exception, request: Request) -> Problem:
    """The framework's own refusals, in our words."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return Problem(422, "query")
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        allowed = ", ".join(allowed_methods(request))
        return Problem(405, "method", {"allowed": allowed}, {"Allow": allowed})
    if error.status_code == 404:
        return Problem(404, "missing")
    return Problem(error.status_code, "request", headers=headers)


def allowed_methods(request: Request) -> list[str]:
    """How this path may be asked for. The framework would name the first of its routes alone."""
    found: set[str] = set()
    for router in (request.app, *ROUTERS):
        for route in router.routes:
            if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
                found |= route.methods or set()
    # The guard turns HEAD into GET, so whoever has one has both.
    return sorted(found | {"HEAD"} if "GET" in found else found)
