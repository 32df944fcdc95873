"""The lab on real sockets, in a thread, with runs of its own; and a client that reads its events."""

import contextlib
import http.client
import json
import socket
import sys
import threading

import uvicorn

from mirada.lab.app import create_app
from mirada.lab.guard import host_headers
from mirada.lab.jobs import WORKER, Jobs

TOKEN = "seven-words-look"
PATIENCE = 240  # seconds: only for what would else wait for ever
# A worker that learns nothing: it begins, and waits for the lab to hang up.
IDLE = (
    sys.executable,
    "-c",
    """
import json, sys
told = json.loads(sys.stdin.readline())
def say(**event): print(json.dumps(event), flush=True)
say(event="start", step=0, steps=7, parameters=11)
say(event="line", line={"step": 3, "kind": "training", "loss": 1.5})
sys.stdin.read()
say(event="end", step=3, finished=False)
""",
)


class Client:
    """Asks a lab of this machine, in `language`."""

    def __init__(self, port, token=TOKEN, language="en"):
        self.port, self.token, self.language = port, token, language

    def open(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"X-Mirada-Token": self.token, "Accept-Language": self.language} | headers
        if body is not None:
            headers, body = {"Content-Type": "application/json"} | headers, json.dumps(body)
        connection.request(method, path, body, headers)
        return connection, connection.getresponse()

    def ask(self, method, path, body=None, **headers):
        """Status and JSON."""
        connection, answer = self.open(method, path, body, **headers)
        with contextlib.closing(connection):
            return answer.status, json.loads(answer.read() or "null")

    def get(self, path):
        status, told = self.ask("GET", path)
        assert status == 200, told
        return told

    def post(self, path, body=None):
        status, told = self.ask("POST", path, body)
        assert status in (200, 201), told
        return told

    def start(self, task="reverse", **options):
        return self.post("/api/runs", {"task": task, "options": options})

    def events(self, run, after=None):
        """(number, name, data) of each event, as they come, until the stream ends."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        connection, answer = self.open("GET", f"/api/runs/{run}/events", **headers)
        with contextlib.closing(connection):
            assert answer.status == 200
            assert answer.getheader("content-type").startswith("text/event-stream")
            number = name = None
            for raw in answer:
                line = raw.decode().rstrip("\n")
                key, _, value = line.partition(": ")
                if key == "id":
                    number = int(value)
                elif key == "event":
                    name = value
                elif key == "data":
                    yield number, name, json.loads(value)
                    number = name = None

    def until(self, run, wanted, after=None):
        """The first event that is wanted: a state of the run, or what a function says yes to."""
        for number, name, data in self.events(run, after):
            if wanted(name, data) if callable(wanted) else (name == "run" and data["state"] == wanted):
                return number, data
        raise AssertionError(f"{run} ended before that: {data}")


@contextlib.contextmanager
def served(runs, worker=WORKER):
    """A lab on a free port; everything that it started is ended with it."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    jobs = Jobs(runs, worker)
    app = create_app(TOKEN, hosts=host_headers(port), jobs=jobs)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        timeout_graceful_shutdown=0,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    client = Client(port)
    client.jobs = jobs
    try:
        yield client
    finally:
        server.should_exit = True
        thread.join()
        jobs.close()
