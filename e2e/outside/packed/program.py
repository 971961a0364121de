"""Only the packed client and Python: a job to its end, its artifact, its receipt and its webhook. One line of JSON a check."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import secrets
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

from capstan_client import AsyncClient, CapstanError, Client, Download, Run, WebhookSignatureError, verify_webhook

ADDRESS = (os.environ["CAPSTAN_BASE_URL"], os.environ["CAPSTAN_API_KEY"])
TEXT = "text.general.fast.v1"
PICTURE = {"prompt": "A lighthouse"}
QUESTION = {"messages": [{"role": "user", "content": "Describe a lighthouse"}]}

client = Client(*ADDRESS)
runs: list[Run[Download]] = []


def a_job_runs_and_is_waited_for() -> None:
    job = client.submit("image.generate.v1", PICTURE, max_cost_usd=1)
    runs.append(client.wait_for_job(job["jobId"], timeout_seconds=60))
    assert runs[0].id == job["jobId"]


def its_artifact_is_downloaded() -> None:
    file = runs[0].artifacts[0].download()
    assert file.media_type.startswith("image/") and len(file.data) > 100, file.media_type


def its_receipt_verifies_and_a_changed_one_does_not() -> None:
    receipt = runs[0].receipt
    assert receipt is not None
    assert client.verify(receipt).verified, client.verify(receipt)
    changed = dict(receipt) | {"status": "failed"}
    assert not client.verify(json.dumps(changed)).verified


def text_is_streamed() -> None:
    story = client.stream(TEXT, QUESTION)
    text = "".join(story.text())
    assert text and story.result().output["content"] == text


def events_come_in_order() -> None:
    ids = [int(event["id"]) for event in client.job_events(runs[0].id)]
    assert ids == sorted(set(ids)) and len(ids) > 2, ids


def a_refusal_is_an_error_with_its_facts() -> None:
    try:
        client.run_and_wait("text.general.fats.v1", {})
    except CapstanError as error:
        assert (error.status, error.code, error.new_key_safe) == (404, "UNKNOWN_CAPABILITY", True)
        assert error.request_id and error.request_id.startswith("req_")
    else:
        raise AssertionError("it was answered")


def a_webhook_is_verified_and_a_changed_one_refused() -> None:
    arrived: list[tuple[bytes, dict[str, str]]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(204)
            self.end_headers()
            arrived.append((body, dict(self.headers.items())))

        def log_message(self, *_: object) -> None:
            pass

    secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        endpoint = client.post(
            "/v1/delivery-endpoints", body={"url": url, "secret": secret, "eventTypes": ["job.succeeded"]}
        )
        job = client.submit("image.generate.v1", PICTURE)
        delivered: dict[str, object] = {}
        while delivered.get("jobId") != job["jobId"]:  # of another job of the project, else
            server.handle_request()
            delivered = dict(verify_webhook(*arrived[-1], secret))
    path = {"endpoint_id": endpoint["endpointId"]}
    client.post("/v1/delivery-endpoints/{endpoint_id}/disable", path_params=path)
    body, headers = arrived[-1]
    try:
        verify_webhook(body + b" ", headers, secret)
    except WebhookSignatureError:
        return
    raise AssertionError("the changed delivery was accepted")


def the_asynchronous_client_does_the_same() -> None:
    async def work() -> None:
        async with AsyncClient(*ADDRESS) as client:
            run, answered = await asyncio.gather(
                client.run_and_wait("image.generate.v1", PICTURE), client.run_and_wait(TEXT, QUESTION)
            )
            assert len((await run.artifacts[0].download()).data) > 100
            assert run.receipt is not None and (await client.verify(run.receipt)).verified
            story = await client.stream(TEXT, QUESTION)
            text = "".join([piece async for piece in story.text()])
            assert text == answered.output["content"]
            assert [event["type"] async for event in client.job_events(run.id)].count("job.succeeded") == 1

    asyncio.run(work())


CHECKS: list[Callable[[], None]] = [
    a_job_runs_and_is_waited_for,
    its_artifact_is_downloaded,
    its_receipt_verifies_and_a_changed_one_does_not,
    text_is_streamed,
    events_come_in_order,
    a_refusal_is_an_error_with_its_facts,
    a_webhook_is_verified_and_a_changed_one_refused,
    the_asynchronous_client_does_the_same,
]
for check in CHECKS:
    problem = None
    try:
        check()
    except Exception as cause:  # whatever it is, it belongs in the table
        problem = f"{type(cause).__name__}: {cause}"
    print(json.dumps({"check": check.__name__.replace("_", " "), "error": problem}), flush=True)
