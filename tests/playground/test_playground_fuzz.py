"""Whatever fits the description of the API, and much that does not: never an error of ours."""

import pytest
import schemathesis
import schemathesis.pytest
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from playground_visitor import TOKEN, new_app


@pytest.fixture
def described(request):
    """What the playground says of its API: only who runs this test makes questions of it."""
    request.node._nodeid = request.node.nodeid  # Schemathesis looks for it, pytest 9.2 has it not
    return schemathesis.openapi.from_asgi(
        "/api/openapi.json",
        new_app(seconds=0.5),
        headers={"cookie": f"rosenblatt-playground={TOKEN}", "host": "localhost"},
    )


schema = schemathesis.pytest.from_fixture("described")
CHECKS = [
    schemathesis.checks.not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.mark.filterwarnings("ignore")
@schema.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_question_breaks_the_server(case):
    headers = {"cookie": f"rosenblatt-playground={TOKEN}", "host": "localhost"}
    case.call_and_validate(headers=headers, checks=CHECKS)
