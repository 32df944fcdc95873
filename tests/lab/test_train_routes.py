"""The routes of the Train page: who may ask, what is refused and how, and which runs there are."""

import json
from pathlib import Path

import pytest
from serving import IDLE, TOKEN, Client, served
from test_server import Lab, ask, token_in

from mirada.lab import tasks as lab_tasks
from mirada.lab.app import create_app
from mirada.lab.files import in_use, rounded
from mirada.lab.wishes import LIMITS, MOST_TEXT
from mirada.training.finding import find_task
from mirada.training.folders import locked
from mirada.training.loop import train
from mirada.training.options import options_for
from training.tiny import StopAt

TINY = {"steps": 7, "d_model": 6, "heads": 2, "seed": 3, "snapshots_every": 3}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with runs as the command line makes them: one whole, one stopped, and what is none."""
    runs = tmp_path_factory.mktemp("work") / "runs"
    runs.mkdir()
    train("copy", out=runs / "mine", **TINY)
    train("reverse-seq2seq", out=runs / "de mañana", listener=StopAt(5), **TINY)
    outside = runs.parent / "outside"
    train("copy", out=outside, **TINY)
    (runs / "link").symlink_to(outside)
    (runs / "empty").mkdir()
    return runs


@pytest.fixture(scope="module")
def lab(runs):
    with served(runs, IDLE) as lab:
        yield lab


def test_the_tasks_that_the_page_offers_are_those_of_the_library():
    """If this fails, `python -m mirada.lab.tasks` writes the file anew."""
    assert list(lab_tasks.tasks().values()) == lab_tasks.described()


@pytest.mark.parametrize("given", [{}, {"steps": 5}, {"epochs": 3}, {"steps": 701, "epochs": 2}])
@pytest.mark.parametrize("task", ["reverse", "sort"])
def test_a_run_is_as_long_as_the_library_makes_it(task, given):
    options = lab_tasks.tasks()[task]["options"]
    if given:
        options = options | {"steps": None, "epochs": None} | given
    expected = options_for(find_task(task), **given).length(313)
    assert lab_tasks.steps_of(task, options) == expected


def test_runs_of_the_command_line_are_listed_and_what_lies_elsewhere_is_not(lab):
    told = {run["id"]: run for run in lab.get("/api/runs")["runs"]}
    assert set(told) == {"mine", "de mañana"}
    mine, stopped = told["mine"], told["de mañana"]
    assert (mine["state"], mine["step"], mine["steps"], mine["ours"]) == ("finished", 7, 7, False)
    assert (mine["task"], mine["family"], mine["heads"], mine["blocks"]) == ("copy", "encoder", 2, 1)
    assert mine["score"]["tokens"] > 0
    assert (stopped["state"], stopped["step"], stopped["score"]) == ("paused", 5, None)
    assert stopped["family"] == "encoder_decoder"


def test_a_run_of_the_command_line_is_told_whole(lab, runs):
    from mirada.models.counting import num_parameters
    from mirada.training.runs import load_run

    told, run = lab.get("/api/runs/mine"), load_run(runs / "mine")
    assert told["metrics"] == run.metrics
    assert told["parameters"] == num_parameters(run.model)
    assert [each["step"] for each in told["maps"]] == run.snapshots == [0, 3, 6, 7]
    for each, maps in zip(told["maps"], run.maps["self"], strict=True):
        assert (each["kind"], each["maps"]) == ("self", rounded(maps.tolist()))
    events = list(lab.events("mine"))
    assert [data for _, name, data in events if name == "line"] == told["metrics"]
    assert [data for _, name, data in events if name == "maps"] == told["maps"]
    assert events[-1][1] == "end"
    assert list(lab.events("mine", 2)) == events[2:]


def test_maps_say_where_nobody_may_look_and_of_which_kind_they_are(lab):
    told = lab.get("/api/runs/de%20ma%C3%B1ana")
    assert [(each["step"], each["kind"]) for each in told["maps"]] == [
        (step, kind) for step in (0, 3) for kind in ("cross", "decoder", "encoder")
    ]
    decoder = told["maps"][1]["maps"][0][0]
    assert decoder[0] == [1.0, *[None] * 8]


@pytest.mark.parametrize("name", ["..", "../outside", "..%2Foutside", "%2e%2e%2foutside", "link", "empty"])
@pytest.mark.parametrize("path", ["", "/events", "/answer", "/pause", "/resume", "/cancel"])
def test_nothing_outside_the_folder_of_runs_can_be_named(lab, name, path):
    method, body = ("POST", {"text": "1"}) if path and path != "/events" else ("GET", None)
    assert lab.ask(method, f"/api/runs/{name}{path}", body)[0] == 404


def test_an_unfinished_run_of_the_command_line_goes_on_here(tmp_path):
    train("copy", out=tmp_path / "mine", listener=StopAt(5), **TINY)
    whole = train("copy", out=tmp_path / "whole", **TINY)
    with served(tmp_path) as lab:
        assert lab.ask("POST", "/api/runs/mine/pause")[0] == 409
        told = lab.post("/api/runs/mine/resume")
        assert (told["state"], told["step"], told["ours"]) == ("running", 5, True)
        lab.until("mine", "finished")
        told = lab.get("/api/runs/mine")
        assert (told["step"], told["score"]) == (7, whole.score._asdict())
        assert [each["step"] for each in told["maps"]] == [0, 3, 6, 7]
        for again in ("mine", "whole"):
            status, error = lab.ask("POST", f"/api/runs/{again}/resume")
            assert (status, error["error"]["code"]) == (409, "run_finished")


def test_a_run_that_another_program_trains_is_said_to_run_and_is_left_alone(tmp_path):
    train("copy", out=tmp_path / "mine", listener=StopAt(5), **TINY)
    with served(tmp_path, IDLE) as lab, locked(tmp_path / "mine"):
        assert in_use(tmp_path / "mine")
        assert lab.get("/api/runs/mine")["state"] == "running"
        for what, code in (("pause", "run_foreign"), ("cancel", "run_foreign"), ("resume", "run_active")):
            status, told = lab.ask("POST", f"/api/runs/mine/{what}")
            assert (status, told["error"]["code"]) == (409, code)
    assert not in_use(tmp_path / "mine")


def test_a_folder_of_runs_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with served(tmp_path / "file" / "runs", IDLE) as lab:
        assert lab.get("/api/runs") == {"runs": []}
        status, told = lab.ask("POST", "/api/runs", {"task": "copy"})
        assert status == 507
        assert "cannot be written" in told["error"]["message"]


def test_the_right_answer_of_each_kind_of_task():
    from types import SimpleNamespace

    from mirada.lab.answers import number_of, right
    from mirada.training.number_words import in_words

    def of(task, question):
        task = find_task(task)
        return right(
            SimpleNamespace(task=task), SimpleNamespace(question=question, inputs=task.read(question))
        )

    assert of("sort", "49303973") == "03334799"
    assert of("count", "49303973") == "12313213"
    assert of("addition", "045+007=") == "52"
    assert of("reverse-seq2seq", "49303973") == "37930394"
    assert of("numbers-es", "dos mil uno") == "2001"
    assert of("numbers-en", "zero") == "0"
    assert of("numbers-es", "mil mil") is None
    for tongue in ("es", "en"):
        for number in (0, 7, 21, 100, 999, 1000, 1001, 21_021, 100_000, 999_999):
            assert number_of(in_words(number, tongue), tongue) == number


BAD = {
    "no task": ({}, 422, "body"),
    "a list": ([], 422, "body"),
    "something more": ({"task": "copy", "lr": 1}, 422, "body"),
    "another task": ({"task": "reserve"}, 422, "task"),
    "a task that is none": ({"task": ["copy"]}, 422, "task"),
    "a file": ({"task": "/etc/passwd"}, 422, "task"),
    "options that are none": ({"task": "copy", "options": [1]}, 422, "body"),
    "another option": ({"task": "copy", "options": {"device": "cuda"}}, 422, "option"),
    "heads": ({"task": "copy", "options": {"d_model": 10, "heads": 3}}, 422, "heads"),
    "causal": ({"task": "addition", "options": {"causal": True}}, 422, "causal"),
    "steps": ({"task": "copy", "options": {"steps": 10**9}}, 422, "bad_option"),
    "width": ({"task": "copy", "options": {"d_model": 10**6}}, 422, "bad_option"),
    "a huge number": ({"task": "copy", "options": {"seed": 10**4000}}, 422, "bad_option"),
    "true": ({"task": "copy", "options": {"heads": True}}, 422, "bad_option"),
    "text": ({"task": "copy", "options": {"epochs": "2"}}, 422, "bad_option"),
    "null": ({"task": "copy", "options": {"blocks": None}}, 422, "bad_option"),
    "a fraction": ({"task": "copy", "options": {"blocks": 1.5}}, 422, "bad_option"),
    "no yes or no": ({"task": "copy", "options": {"positions": "none"}}, 422, "bad_option"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_learnt_is_a_sentence_in_both_languages(lab, what):
    body, status, code = BAD[what]
    said = []
    for language in ("es", "en"):
        answered, told = Client(lab.port, language=language).ask("POST", "/api/runs", body)
        assert (answered, told["error"]["code"]) == (status, code)
        said.append(told["error"]["message"])
    assert said[0] != said[1]
    assert all(20 < len(sentence) < 300 for sentence in said)


@pytest.mark.parametrize("name", LIMITS)
def test_as_much_as_is_allowed_and_no_more(lab, name):
    least, most = LIMITS[name]
    from mirada.lab.wishes import check

    for value in (least, most):
        check(name, value)
    for value in (least - 1, most + 1):
        status, told = lab.ask("POST", "/api/runs", {"task": "copy", "options": {name: value}})
        assert status == 422
        assert f"{most:,}" in told["error"]["message"]


@pytest.mark.parametrize("path", ["/api/runs", "/api/runs/mine/answer"])
def test_only_json_is_read_and_not_too_much_of_it(lab, path):
    assert lab.ask("POST", path, {}, **{"Content-Type": "text/plain"})[0] == 415
    connection, answer = lab.open("POST", path, None, **{"Content-Type": "application/json"})
    assert (answer.status, json.loads(answer.read())["error"]["code"]) == (400, "json")
    connection.close()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": 7}, "body"),
        ({"text": "1" * (MOST_TEXT + 1)}, "text_size"),
        ({"text": "\ud800"}, "no_symbol"),
    ],
)
def test_a_question_that_is_none_is_a_sentence(lab, body, code):
    status, told = lab.ask("POST", "/api/runs/mine/answer", body)
    assert (status, told["error"]["code"]) == (422, code)


ROUTES = [
    (method.upper(), path.replace("{id}", "mine"))
    for path, methods in create_app(TOKEN, hosts=()).openapi()["paths"].items()
    for method in methods
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_is_guarded(lab, method, path):
    def status(**headers):
        return lab.ask(method, path, {} if method == "POST" else None, **headers)[0]

    assert status(**{"X-Mirada-Token": "x"}) == 401
    assert status(Host="evil.example") == 421
    assert status(Origin="http://evil.example") == 403
    assert status(**{"Sec-Fetch-Site": "cross-site"}) == 403
    assert lab.ask(method, f"{path}?x=1", {} if method == "POST" else None)[0] == 422


@pytest.mark.parametrize("path", [path for method, path in ROUTES if method == "GET"])
def test_head_answers_and_ends_also_where_the_stream_does_not(lab, path):
    connection, answer = lab.open("HEAD", path)
    assert (answer.status, answer.read()) == (200, b"")
    connection.close()


def test_head_of_a_stream_without_end(tmp_path):
    with served(tmp_path, IDLE) as lab:
        lab.start("copy")
        connection, answer = lab.open("HEAD", "/api/runs/copy/events")
        assert answer.status == 200
        assert answer.getheader("content-type").startswith("text/event-stream")
        assert answer.read() == b""
        # The same connection serves the next one: nothing of a stream follows on it.
        connection.request("GET", "/api/runs/copy", headers={"X-Mirada-Token": TOKEN})
        assert json.loads(connection.getresponse().read())["state"] == "running"
        connection.close()


@pytest.mark.parametrize(("path", "allowed"), [("/api/runs", "GET, HEAD, POST"), ("/api/tasks", "GET, HEAD")])
def test_another_method_is_told_all_that_would_do(lab, path, allowed):
    connection, answer = lab.open("DELETE", path)
    assert (answer.status, answer.getheader("allow")) == (405, allowed)
    connection.close()


def test_silence_is_broken_by_a_comment(tmp_path, monkeypatch):
    monkeypatch.setattr("mirada.lab.train_routes.HEARTBEAT", 0.01)
    with served(tmp_path, IDLE) as lab:
        lab.start("copy")
        connection, answer = lab.open("GET", "/api/runs/copy/events")
        assert any(line == b":\n" for line in answer)
        connection.close()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux shows what a process has loaded")
def test_torch_is_not_needed_to_look_at_runs(runs):
    with Lab("--port", "0", MIRADA_RUNS=str(runs)) as process:
        _, host, port = process.ready()
        lab = Client(port, token_in(ask(host, port)[1]))
        lab.get("/api/tasks")
        assert len(lab.get("/api/runs")["runs"]) == 2
        assert lab.get("/api/runs/mine")["maps"]
        assert list(lab.events("mine"))
        assert "libtorch" not in Path(f"/proc/{process.process.pid}/maps").read_text()
