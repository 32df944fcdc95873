"""What a check finds: correct, not yet, failed, or nothing to judge yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mirada.exercises.texts import say

Status = Literal["pending", "correct", "not_yet", "failed"]


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer of `check`. It is true where the answer is correct, and it reads as a sentence.

    Attributes:
        exercise: its name.
        status: "pending" (nothing was answered), "correct", "not_yet", or "failed" (the function raised).
        hint: key of the sentence that says what to think about; None where there is nothing to say.
    """

    exercise: str
    status: Status
    hint: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)  # what the sentences name

    def __bool__(self) -> bool:
        return self.status == "correct"

    @property
    def title(self) -> str:
        return say(f"verdict.{self.status}")

    @property
    def sentences(self) -> str:
        said = []
        if self.status == "pending":
            said.append(say("verdict.how"))
        elif self.status == "correct":
            said.append(say(f"{self.exercise}.why"))
        elif self.status == "failed":
            said.append(say("verdict.raised", **self.values))
            if self.values.get("line"):
                said.append(
                    say("verdict.line" if self.values["code"] else "verdict.line_only", **self.values)
                )
        if self.hint:
            said.append(say(self.hint, **self.values))
        return " ".join(said)

    def __repr__(self) -> str:
        return f"{self.title} {self.sentences}"

    def _repr_markdown_(self) -> str:
        return f"**{self.title}** {self.sentences}"
