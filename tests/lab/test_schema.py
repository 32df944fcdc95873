"""The API against its own schema: whatever is sent, the answer is one that the schema announces."""

import contextlib
import socket
import sys
import threading

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig

import mirada
from mirada.lab.app import create_app
from mirada.lab.guard import host_headers
from mirada.lab.jobs import Jobs

TOKEN = "seven-words-look"
HEADERS = {"X-Mirada-Token": TOKEN}
# Of all that it is asked to learn, nothing is learnt here: a worker that ends at once.
WORKER = (sys.executable, "-c", 'print(\'{"event": "end", "step": 1, "finished": true}\')')


@contextlib.contextmanager
def served(runs):
    """The lab on a free port of this machine, in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    jobs = Jobs(runs, WORKER)
    app = create_app(TOKEN, hosts=host_headers(port), jobs=jobs)
    config = uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_config=None, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
        jobs.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    assert mirada.attention  # imports torch, so that the first answer is as quick as the others
    with served(tmp_path_factory.mktemp("runs")) as url:
        yield url


def describe():
    config = {
        # That lists agree in length is more than a schema can say: 422 is right there, too.
        "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", 404, 409, 422, 429]}}
    }
    described = create_app(TOKEN, hosts=()).openapi()
    return schemathesis.openapi.from_dict(described, config=SchemathesisConfig.from_dict(config))


schema = describe()


@schema.parametrize()
@settings(
    max_examples=53,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_every_answer_is_one_that_the_schema_announces(case, url):
    case.call_and_validate(base_url=url, headers=HEADERS)
