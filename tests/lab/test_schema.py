"""The API against its own schema: whatever is sent, the answer is one that the schema announces."""

import sys

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, settings
from schemathesis.config import SchemathesisConfig
from serving import TOKEN, served

import mirada
from mirada.lab.app import create_app

HEADERS = {"X-Mirada-Token": TOKEN}
# Of all that it is asked to learn, nothing is learnt here: a worker that ends at once.
WORKER = (sys.executable, "-c", 'print(\'{"event": "end", "step": 1, "finished": true}\')')


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    assert mirada.attention  # imports torch, so that the first answer is as quick as the others
    with served(tmp_path_factory.mktemp("runs"), WORKER) as lab:
        yield f"http://127.0.0.1:{lab.port}"


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
    # An empty list is nothing in an address: what was meant to be wrong would be right.
    assume([] not in (case.query or {}).values())
    case.call_and_validate(base_url=url, headers=HEADERS)
