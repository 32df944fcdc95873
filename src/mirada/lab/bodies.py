"""What a request brings along, as JSON."""

import json
from typing import Any, NoReturn

from mirada.lab.problems import Problem


def read_json(body: bytes) -> Any:
    """Raises the Problem 400 for what is no JSON."""
    try:
        return json.loads(body.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(400, "json", detail=plain(error)) from None


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def plain(error: Exception) -> str:
    """An error's words, cut short, and without the half characters that a request may smuggle in."""
    return str(error)[:500].encode("utf-8", "backslashreplace").decode()
