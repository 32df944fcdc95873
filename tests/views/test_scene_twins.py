"""The page's scene and Python's are twins: the same weights to 1e-12, the same refusals.

`frontend/src/scene/scene.ts` is bundled and asked, in one process, for what `mirada.Scene` computes with
torch.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mirada.views.scene import Scene

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
SCHEMA = jsonschema_rs.validator_for(
    json.loads((ROOT / "src/mirada/views/scene.schema.json").read_text("utf-8"))
)

# Reads a scene a line, answers with its looks or with what is wrong.
ENTRY = """
import { createInterface } from "node:readline";
import { look, parseScene } from "./scene";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { value, fault } = parseScene(line);
  console.log(JSON.stringify(fault ? { fault } : { looks: value.rows.map((_, i) => look(value, i)) }));
});
"""

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    # Node may have come as a package, into the environment that runs this.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    node = shutil.which("node", path=path)
    assert node, "node is missing; `make test` brings it"
    bundle = tmp_path_factory.mktemp("scene") / "scene.mjs"
    command = [FRONTEND / "node_modules/.bin/esbuild", "--bundle", "--format=esm", "--platform=node"]
    subprocess.run(
        [*map(str, command), f"--outfile={bundle}", "--log-level=error"],
        input=ENTRY, cwd=FRONTEND / "src/scene", check=True, text=True, env=os.environ | {"PATH": path},
    )  # fmt: skip
    process = subprocess.Popen(
        [node, str(bundle)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def answer(text: str) -> dict[str, Any]:
        stdin.write(text.replace("\n", " ") + "\n")
        stdin.flush()
        return json.loads(stdout.readline())

    with process:
        yield answer
        stdin.close()


def tables(cells: st.SearchStrategy[Any], rows: int, columns: int) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def masks(rows: int, columns: int, bias: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    kinds = [
        st.just({"kind": "causal"}),
        st.builds(lambda n: {"kind": "window", "size": n}, st.integers(1, 9) | st.just(10**40)),
        st.builds(
            lambda n, side: {"kind": "padding", "length": n, "side": side},
            st.integers(0, columns), st.sampled_from(["right", "left"]),
        ),
        st.builds(lambda t: {"kind": "blocked", "table": t}, tables(st.booleans(), rows, columns)),
    ]  # fmt: skip
    if bias:
        cells = st.integers(-40, 40).map(lambda n: n / 8) | st.just(-1000.0)
        kinds.append(st.builds(lambda t: {"kind": "bias", "table": t}, tables(cells, rows, columns)))
    return st.lists(st.one_of(kinds), max_size=3)


GRID = st.integers(-25, 25).map(lambda n: n / 10)
EXTREMES = st.sampled_from([1e-6, 3e-4, 0.02, 123.0, 1e9, 1e30])


@st.composite
def scenes(draw: st.DrawFn) -> dict[str, Any]:
    """Scenes whose weights can be told to 1e-12 from their numbers.

    A score of a million knows its last digits only to 1e-10, so at temperatures that make such scores either
    the vectors shrink along with the temperature, or a query has one number only, and then scores are
    exactly equal or very far apart. Biases stay within a thousand for the same reason.
    """
    rows, columns, head_dim = draw(st.integers(1, 5)), draw(st.integers(1, 7)), draw(st.integers(1, 7))
    regime = draw(st.sampled_from(["ordinary", "balanced", "one number"]))
    temperature = draw(st.floats(0.1, 10) if regime == "ordinary" else EXTREMES)
    vectors = GRID.map(lambda x: x * math.sqrt(temperature)) if regime == "balanced" else GRID
    query = draw(tables(vectors, rows, head_dim))
    if regime == "one number":
        for row in query:
            kept = draw(st.integers(0, head_dim - 1))
            row[:] = [x if c == kept else 0 for c, x in enumerate(row)]
    found: dict[str, Any] = {
        "version": 1,
        "rows": [f"r{i}" for i in range(rows)],
        "columns": [f"c{i}" for i in range(columns)],
        "query": query,
        "key": draw(tables(vectors, columns, head_dim)),
        "value": draw(tables(GRID, columns, draw(st.integers(1, 3)))),
        "temperature": temperature,
        "masks": draw(masks(rows, columns, bias=regime != "one number")),
    }
    if draw(st.booleans()):
        found["scale"] = draw(st.floats(0.2, 1))
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenes())
def test_weights_and_output_are_the_librarys_to_1e_12(ask: Ask, data: dict[str, Any]):
    scene = Scene.from_dict(data)
    looks = ask(scene.to_json())["looks"]
    weights, output = (
        torch.tensor([row[name] for row in looks], dtype=torch.float64) for name in ("weights", "output")
    )
    torch.testing.assert_close(weights, scene.weights(), rtol=0, atol=1e-12)
    torch.testing.assert_close(output, scene.output(), rtol=0, atol=1e-12)
    # Masked is exactly zero; who may be looked at is never called masked, however small the weight.
    allowed = torch.tensor([row["allowed"] for row in looks])
    assert not scene.weights()[~allowed].any()
    assert not weights[~allowed].any()
    mask = scene.mask()
    if mask is not None:
        table = mask.to_tensor(1, 1, len(scene.rows), len(scene.columns))[0, 0]
        assert torch.equal(allowed, table if table.dtype == torch.bool else table > -math.inf)
    # What the page is handed is what was given, with the defaults filled in; the page fills in the same.
    assert Scene.from_json(scene.to_json()) == scene
    assert ask(json.dumps(data))["looks"] == looks
    SCHEMA.validate(data)
    SCHEMA.validate(scene.to_dict())


GOOD: dict[str, Any] = {
    "version": 1, "rows": ["a", "b"], "columns": ["x", "y", "z"],
    "query": [[1, 2], [3, 4]], "key": [[1, 0], [0, 1], [1, 1]], "value": [[1], [2], [3]],
}  # fmt: skip


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


def masked(**mask: Any) -> dict[str, Any]:
    return GOOD | {"masks": [mask]}


# what is handed in, the page's code and place, Python's sentence, whether the schema alone can tell
BROKEN: list[tuple[Any, str, str, str, bool]] = [
    ([1], "scene.type", "", "scene is .*; expected an object", True),
    (without("key"), "scene.missing", "key", "scene lacks key", True),
    (GOOD | {"version": 2}, "scene.version", "", "version is 2; expected 1", True),
    (GOOD | {"version": True}, "scene.version", "", "version is True; expected 1", True),
    (GOOD | {"weights": []}, "scene.unknown", "weights", "scene has weights; expected only", True),
    (GOOD | {"rows": []}, "scene.count", "rows", "rows has 0 entries; expected at least 1", True),
    (GOOD | {"rows": "ab"}, "scene.type", "rows", "rows is 'ab'; expected a list", True),
    (GOOD | {"rows": ["a", 2]}, "scene.type", "rows[1]", r"rows\[1\] is 2; expected text", True),
    (GOOD | {"query": [[1, 2]]}, "scene.count", "query", "query has 1 entries; expected 2", False),
    (GOOD | {"query": [[1, 2], [3]]}, "scene.count", "query[1]", r"query\[1\] has 1 en.* expected 2", False),
    (GOOD | {"key": [[1], [2], [3]]}, "scene.count", "key[0]", r"key\[0\] has 1 entries; expected 2", False),
    (GOOD | {"key": [[], [], []], "query": [[], []]}, "scene.count", "query[0]", r"query\[0\] has 0", True),
    (GOOD | {"query": [[1, 2], [3, None]]}, "scene.type", "query[1][1]", r"query\[1\]\[1\] is None", True),
    (GOOD | {"query": [[1, 2], [3, True]]}, "scene.type", "query[1][1]", r"query\[1\]\[1\] is True", True),
    (GOOD | {"query": [[1, 2], [3, 1e61]]}, "scene.nan", "query[1][1]", r"1e\+61; expected a finite", True),
    (GOOD | {"value": [[1], [2]]}, "scene.count", "value", "value has 2 entries; expected 3", False),
    (GOOD | {"value": None}, "scene.type", "value", "value is None; expected to be left out", True),
    (GOOD | {"masks": None}, "scene.type", "masks", "masks is None; expected to be left out", True),
    (GOOD | {"temperature": 0}, "scene.range", "temperature", "temperature is 0; expected .* above 0", True),
    (GOOD | {"temperature": -1}, "scene.range", "temperature", "temperature is -1; expected", True),
    (GOOD | {"scale": 0}, "scene.range", "scale", "scale is 0; expected", True),
    (GOOD | {"masks": {}}, "scene.type", "masks", "masks is {}; expected a list", True),
    (GOOD | {"axes": []}, "scene.type", "axes", r"axes is \[\]; expected an object", True),
    (GOOD | {"axes": {"z": ""}}, "scene.unknown", "axes.z", "axes has z; expected only columns, rows", True),
    (GOOD | {"axes": {"rows": 1}}, "scene.type", "axes.rows", r"axes\[0\] is 1; expected text", True),
    (masked(), "scene.missing", "masks[0].kind", r"masks\[0\] lacks kind", True),
    (masked(kind="none"), "scene.mask", "masks[0].kind", "kind is 'none'; expected one of causal, ", True),
    (masked(kind="causal", size=1), "scene.unknown", "masks[0].size", r"masks\[0\] has size", True),
    (masked(kind="window", size=0), "scene.range", "masks[0].size", "size is 0; expected an integer", True),
    (masked(kind="window", size=1.5), "scene.range", "masks[0].size", "size is 1.5; expected an int", True),
    (masked(kind="padding", length=4, side="left"), "scene.range", "masks[0].length", "from 0 to 3", False),
    (masked(kind="padding", length=1, side="top"), "scene.type", "masks[0].side", "'right' or 'left'", True),
    (masked(kind="blocked", table=[[True]]), "scene.count", "masks[0].table", "has 1 entries; exp", False),
    (masked(kind="blocked", table=[[0, 0, 0]] * 2), "scene.type", "masks[0].table[0][0]", "true or", True),
    (masked(kind="bias", table=[[0, 0]] * 2), "scene.count", "masks[0].table[0]", "has 2 entries", False),
]  # fmt: skip


@pytest.mark.parametrize(("data", "code", "where", "sentence", "by_schema"), BROKEN)
def test_both_refuse_the_same(ask: Ask, data: Any, code: str, where: str, sentence: str, by_schema: bool):
    fault = ask(json.dumps(data))["fault"]
    assert (fault["code"], fault.get("where", "")) == (code, where)
    with pytest.raises(ValueError, match=sentence):
        Scene.from_dict(data)
    assert SCHEMA.is_valid(data) == (not by_schema)


def test_both_refuse_numbers_that_json_does_not_have(ask: Ask):
    text = json.dumps(GOOD)
    for wrong in ("NaN", "Infinity"):
        assert ask(text.replace("4", wrong))["fault"]["code"] == "scene.json"
        with pytest.raises(ValueError, match=rf"query\[1\]\[1\] is {wrong[:3].lower()}; expected a finite"):
            Scene.from_json(text.replace("4", wrong))
    assert ask(text.replace("4", "1e999"))["fault"]["code"] == "scene.nan"
    assert ask("{")["fault"]["code"] == "scene.json"
    with pytest.raises(ValueError, match=r"this is not JSON: .*; expected the text"):
        Scene.from_json("{")


def test_hostile_words_pass_both_unchanged(ask: Ask):
    words = ["</script><b>", "سلام", "🙂‍↔️", "x" * 300, "\u2028", "", '"\\']
    data = GOOD | {"columns": words, "key": [[1, 0]] * 7, "value": [[1]] * 7}
    assert Scene.from_json(Scene.from_dict(data).to_json()).columns == tuple(words)
    assert len(ask(json.dumps(data))["looks"][0]["weights"]) == 7
