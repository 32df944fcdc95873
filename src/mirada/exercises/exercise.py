"""What all exercises have in common: a question, a check that never raises, a solution to read."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mirada.exercises.listing import ENTRIES
from mirada.exercises.progress import record
from mirada.exercises.texts import say
from mirada.exercises.verdict import Verdict


class Odd(Exception):
    """An answer that cannot be judged; the entry `key` of the catalogue says why."""

    def __init__(self, key: str, **values: object):
        super().__init__(key)
        self.key = key
        self.values = values


@dataclass(frozen=True, eq=False, repr=False)
class Exercise:
    """A question that can be asked, answered and checked.

    Attributes:
        name: under which it stands in `mirada.exercises`, and its texts in the catalogue.
        solution: real code: the function that is asked for, or one that computes the answer.
    """

    name: str
    solution: Callable[..., Any]

    def check(self, answer: object = None) -> Verdict:
        """What is right about an answer, or what to think about. Never raises, whatever it is given."""
        try:
            verdict = self.pending if is_empty(answer) else self.judge(answer)
        except Odd as odd:
            verdict = self.not_yet(odd.key, **odd.values)
        except Exception as error:  # an answer so odd that nobody foresaw it: as numpy's lazy cousins may be
            verdict = self.not_yet("verdict.odd", kind=type(answer).__name__, reason=type(error).__name__)
        record(verdict)
        return verdict

    def judge(self, answer: Any) -> Verdict:
        """The verdict on an answer that is not empty; may raise."""
        raise NotImplementedError

    @property
    def pending(self) -> Verdict:
        return Verdict(self.name, "pending")

    @property
    def correct(self) -> Verdict:
        return Verdict(self.name, "correct")

    def not_yet(self, key: str, **values: object) -> Verdict:
        """`key` in full, or the name of a hint of this exercise."""
        return Verdict(self.name, "not_yet", key if "." in key else f"{self.name}.{key}", values)

    @property
    def title(self) -> str:
        return say(f"{self.name}.title")

    @property
    def question(self) -> str:
        return say(f"{self.name}.question")

    @property
    def given_code(self) -> str:
        """Code that belongs to the question: where to begin. May be empty."""
        return ""

    @property
    def solution_code(self) -> str:
        """For teachers: the solution, to be copied and run."""
        return source(self.solution)

    @property
    def solution_value(self) -> str:
        """What the solution computes, where the answer is no function. Empty where it is one."""
        return ""

    @property
    def heading(self) -> str:
        entry = ENTRIES[self.name]
        core = " ●" if entry.core else ""
        return say("exercise.heading", number=entry.number, title=self.title) + core

    def __repr__(self) -> str:
        code = textwrap.indent(self.given_code, "    ")
        how = f"exercises.{self.name}.check(…)"
        return "\n\n".join(part for part in (self.heading, self.question, code, how) if part)

    def _repr_markdown_(self) -> str:
        code = self.given_code and f"```python\n{self.given_code}\n```"
        return "\n\n".join(part for part in (f"**{self.heading}**", self.question, code) if part)


def source(function: Callable[..., Any]) -> str:
    """The code of a function, with the imports of its file that it needs: it can be copied and run."""
    code = textwrap.dedent(inspect.getsource(function)).rstrip()
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    imports = [
        ast.unparse(node)
        for node in ast.parse(inspect.getsource(inspect.getmodule(function) or function)).body
        if isinstance(node, ast.Import | ast.ImportFrom) and used & {alias.name for alias in node.names}
    ]
    return "\n".join([*imports, "", "", code]).strip()


def is_empty(answer: object) -> bool:
    """True for what stands where an answer is still to come."""
    if isinstance(answer, list | tuple):
        return all(is_empty(each) for each in answer)
    return answer is None or answer is ... or (isinstance(answer, str) and not answer.strip("… ."))
