"""Both clients against a service of a few lines: what is sent, what is sent again, and what becomes an error."""

import asyncio
import hashlib
import inspect
import json
import unittest
from unittest.mock import AsyncMock, patch

import httpx

from capstan_client import (
    AsyncClient,
    AsyncStreamRun,
    AwaitingApprovalError,
    CapstanError,
    Client,
    IntegrityError,
    Retry,
    RunFailedError,
    StreamRun,
    WaitTimeoutError,
)

KEY = "cap_a_secret_key"
TEXT = "text.general.fast.v1"
JOB = {"jobId": "wfr_1", "capabilityKey": TEXT, "typedOutput": 4, "artifacts": [], "warnings": []}


def job(status, **more):
    return {**JOB, "status": status, "nextAction": "poll", "retry": {"newKeySafe": False}, **more}


def answer(code=200, headers=None, /, **body):
    return httpx.Response(code, headers=headers, json=body)


class Service:
    """Answers the requests of both clients in turn; an exception is a lost answer."""

    def __init__(self, *answers):
        self.answers = answers

    def __enter__(self):
        self.requests, self.slept, self.left = [], [], list(self.answers)
        return self

    def __exit__(self, *_):
        pass

    def __call__(self, request):
        self.requests.append(request)
        given = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(given, Exception):
            raise given
        body = Cut(given.content, given.extensions["cut"]) if "cut" in given.extensions else given.content
        return httpx.Response(
            given.status_code, headers={k: v for k, v in given.headers.items() if k != "content-length"},
            **({"stream": body} if isinstance(body, Cut) else {"content": body}),
        )

    @property
    def keys(self):
        return [request.headers.get("idempotency-key") for request in self.requests]


class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body whose connection is lost after so many bytes."""

    def __init__(self, content, most):
        self.content, self.most = content, most

    def __iter__(self):
        yield self.content[: self.most]
        raise httpx.ReadError("lost")

    async def __aiter__(self):
        for piece in (self.content[: self.most],):
            yield piece
        raise httpx.ReadError("lost")


class Both(unittest.TestCase):
    """Each test runs with the synchronous and the asynchronous client."""

    def each(self, service, work):
        """The result, or the error, of each client; ``work`` is a function of the client."""
        with self.subTest("Client"), service, patch("time.sleep", service.slept.append):
            http = httpx.Client(transport=httpx.MockTransport(service))
            client = Client("http://capstan.test/v1/", KEY, http_client=http)
            yield self.caught(lambda: work(client))
        sleep = AsyncMock(side_effect=lambda seconds: service.slept.append(seconds))
        with self.subTest("AsyncClient"), service, patch("asyncio.sleep", sleep):

            async def run():
                async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
                    given = work(AsyncClient("http://capstan.test", KEY, http_client=http))
                    return [x async for x in given] if hasattr(given, "__aiter__") else await given

            yield self.caught(lambda: asyncio.run(run()))

    def caught(self, work):
        try:
            found = work()
            return list(found) if inspect.isgenerator(found) else found
        except CapstanError as error:
            return error


class Sent(Both):
    def test_a_submission_whose_answer_was_lost_is_sent_again_under_its_key(self):
        lost = httpx.ReadError("connection reset")
        service = Service(lost, answer(503, {"retry-after": "2"}), lost, answer(202, **job("queued")))
        for found in self.each(service, lambda client: client.submit(TEXT, {"a": 1}, max_cost_usd=0.5)):
            self.assertEqual(found["jobId"], "wfr_1")
            self.assertEqual(len(service.requests), 4)
            self.assertEqual(len(set(service.keys)), 1)
            self.assertRegex(service.keys[0], r"^run-[0-9a-f]{32}$")
            self.assertEqual(service.slept, [0.75, 2, 2.25])
            body = {"input": {"a": 1}, "execution": {"executionConstraints": {"maxCostUsd": 0.5}}}
            self.assertEqual([json.loads(request.content) for request in service.requests], [body] * 4)
            self.assertEqual(str(service.requests[0].url), f"http://capstan.test/v1/capabilities/{TEXT}/jobs")

    def test_every_operation_that_starts_work_has_a_key_and_no_other_write_is_sent_again(self):
        path = f"/v1/capabilities/{TEXT}/invoke"
        for _ in self.each(service := Service(answer(503), answer()), lambda client: client.post(path, body={})):
            self.assertEqual(len(set(service.keys)), 1)
            self.assertIsNotNone(service.keys[0])
        own = {"idempotencyKey": "mine"}
        for _ in self.each(service := Service(answer()), lambda client: client.post("/v1/responses", body=own)):
            self.assertEqual(service.keys, ["mine"])
        own = {"idempotencyKey": "clé-鍵"}
        for _ in self.each(service := Service(answer()), lambda client: client.post("/v1/responses", body=own)):
            sent = dict(service.requests[0].headers.raw)[b"idempotency-key"]
            self.assertEqual(sent.decode("utf-8"), "clé-鍵")
        for error in self.each(
            service := Service(answer(503)),
            lambda client: client.post("/v1/jobs/{job_id}/approve", path_params={"job_id": "a/b"}),
        ):
            self.assertEqual((error.status, service.keys), (503, [None]))
            self.assertEqual(service.requests[0].url.raw_path, b"/v1/jobs/a%2Fb/approve")

    def test_what_is_final_is_sent_once_and_what_stays_unreachable_eight_times(self):
        for body, times in [
            ({"code": "TRANSPORT_AMBIGUOUS", "message": "m", "retryable": False}, 1),
            ({"code": "ProviderUnavailable", "message": "m", "retryable": True, "executionId": "wfr_1"}, 1),
            ({"code": "RateLimited", "message": "m", "retryAfterSeconds": 3600}, 1),
            ({"code": "ServiceUnavailable", "message": "m"}, 8),
        ]:
            service = Service(answer(503, {"x-request-id": "req_1"}, detail=body))
            for error in self.each(service, lambda client: client.submit(TEXT, {})):
                self.assertEqual((error.code, error.request_id), (body["code"], "req_1"))
                self.assertEqual((len(service.requests), error.new_key_safe), (times, False))

    def test_only_a_refusal_of_the_first_attempt_says_that_nothing_ran(self):
        refusal = answer(422, detail=[{"loc": ["body", "input"], "msg": "is missing", "type": "missing"}])
        for error in self.each(Service(refusal), lambda client: client.submit(TEXT, {})):
            self.assertEqual((error.message, error.code), ("input: is missing", "ValidationFailed"))
            self.assertTrue(error.new_key_safe)
        lost = Service(httpx.ReadError("lost"), refusal)
        for error in self.each(lost, lambda client: client.submit(TEXT, {})):
            self.assertFalse(error.new_key_safe)

    def test_the_key_is_in_no_error_and_in_nothing_that_is_printed(self):
        gone = Service(httpx.ConnectError(f"no route for {KEY}"))
        for error in self.each(gone, lambda client: client.get("/v1/jobs")):
            self.assertEqual((error.status, error.code, error.retryable), (0, "Unreachable", True))
            self.assertEqual(gone.requests[0].headers["authorization"], f"Bearer {KEY}")
            shown = [repr(error), str(vars(error)), repr(error.__cause__), repr(error.__context__)]
            self.assertNotIn(KEY, "".join(shown))
        client = Client("http://capstan.test", KEY)
        self.assertNotIn(KEY, repr(client) + str(vars(client)) + str(vars(client._core)))
        for base_url, api_key in [("http://capstan.test", f"{KEY}\n"), ("https://a:b@capstan.test", KEY)]:
            self.assertRaises(ValueError, Client, base_url, api_key)


class Waits(Both):
    def test_a_job_is_waited_for_in_the_service_and_its_artifacts_are_checked(self):
        listed = {"artifactId": "art_1", "mediaType": "image/png", "filename": "a.png"}
        for content in (b"picture", b"changed"):
            receipt = {"artifacts": [{**listed, "sha256": hashlib.sha256(b"picture").hexdigest()}]}
            service = Service(
                answer(**job("queued", pollAfterSeconds=7)),
                answer(**job("running", pollAfterSeconds=7)),
                # An older service answers at once.
                answer(**job("running", pollAfterSeconds=7)),
                answer(**job("succeeded")),
                answer(**receipt),
                httpx.Response(200, content=content),
            )

            def work(client):
                if isinstance(client, Client):
                    return client.wait_for_job("wfr_1").artifacts[0].download()

                async def run():
                    return await (await client.wait_for_job("wfr_1")).artifacts[0].download()

                return run()

            for found in self.each(service, work):
                self.assertEqual(service.slept, [7])
                waits = [request.url.params.get("waitSeconds") for request in service.requests[:4]]
                self.assertEqual(waits, ["0", "25", "25", "25"])
                if content == b"picture":
                    self.assertEqual((found.data, found.filename), (content, "a.png"))
                else:
                    self.assertIsInstance(found, IntegrityError)

    def test_a_run_says_what_you_pay(self):
        charge = {"chargedMicros": 17, "state": "charged"}
        done = {"executionId": "wfr_1", "typedOutput": 4, "warnings": []}
        runs = {
            "invoke": [answer(**done, charge=charge), answer(artifacts=[])],
            "job": [answer(jobId="wfr_1"), answer(**job("succeeded", charge=charge)), answer(artifacts=[])],
        }
        for mode, answers in runs.items():
            for run in self.each(Service(*answers), lambda client: client.run_and_wait(TEXT, {}, mode=mode)):
                self.assertEqual((run.charge, run.output), (charge, 4))
        older = Service(answer(**done), answer(artifacts=[]))
        for run in self.each(older, lambda client: client.run_and_wait(TEXT, {}, mode="invoke")):
            self.assertIsNone(run.charge)

    def test_a_wait_ends_at_its_limit_at_a_failure_and_where_a_person_decides(self):
        failed = job("failed", error={"code": "X", "message": "m.", "resolution": "r."}, receiptId="rcpt_1")
        waiting = job("awaiting_approval", approval={"approvalUrl": "http://u", "message": "Decide."})
        running = job("running")
        for answers, kind in [
            ([failed], RunFailedError),
            ([waiting], AwaitingApprovalError),
            ([running, running], WaitTimeoutError),
        ]:
            service = Service(*(answer(**status) for status in answers))
            for error in self.each(service, lambda client: client.wait_for_job("wfr_1", timeout_seconds=3)):
                self.assertIsInstance(error, kind)
                self.assertEqual((error.execution_id, len(service.requests)), ("wfr_1", len(answers)))
                if kind is RunFailedError:
                    self.assertEqual((str(error), error.receipt_id), ("m. r.", "rcpt_1"))


class Streams(Both):
    def test_frames_that_were_cut_or_repeated_come_once_and_in_order(self):
        def frame(number, event):
            return f"id: {number}\nevent: {event}\ndata: {json.dumps({'id': str(number), 'ü': 1})}\n\n"

        all_frames = [frame(9, "job.queued"), frame(10, "job.started"), frame(11, "job.succeeded")]
        whole = "".join(all_frames).encode()
        service = Service(
            httpx.Response(200, content=whole, extensions={"cut": len(all_frames[0]) + 20}),
            answer(**job("running")),
            httpx.Response(200, content=whole),
        )
        for events in self.each(service, lambda client: client.job_events("wfr_1")):
            self.assertEqual([event["id"] for event in events], ["9", "10", "11"])
            resumed = [request.headers.get("last-event-id") for request in service.requests]
            self.assertEqual(resumed, [None, None, "9"])

    def test_a_stream_that_is_resumed_beyond_its_last_frame_brings_that_frame(self):
        data = json.dumps({"id": "5"})
        last = httpx.Response(200, content=f"id: 5\nevent: job.receipt_sealed\ndata: {data}\n\n".encode())
        nothing = httpx.Response(200, content=b":\n\n")
        service = Service(last, answer(**job("succeeded")), nothing)
        for events in self.each(service, lambda client: client.job_events("wfr_1", last_event_id="50")):
            self.assertEqual([event["id"] for event in events], ["5"])
            resumed = [request.headers.get("last-event-id") for request in service.requests]
            self.assertEqual(resumed, ["50", None, "5"])

    def test_a_stream_that_is_always_interrupted_is_an_error(self):
        service = Service(httpx.Response(200, content=b"id: 1", extensions={"cut": 3}))
        run = {Client: StreamRun, AsyncClient: AsyncStreamRun}
        for error in self.each(service, lambda client: run[type(client)](client, TEXT, "wfr_1", 1).text()):
            self.assertEqual((error.code, len(service.requests)), ("Unreachable", 9))


class Twins(unittest.TestCase):
    def test_both_clients_have_the_same_verbs_with_the_same_parameters(self):
        def verbs_of(client):
            members = inspect.getmembers(client, inspect.isfunction)
            return {name: list(inspect.signature(it).parameters) for name, it in members if not name.startswith("_")}

        self.assertEqual(verbs_of(Client), verbs_of(AsyncClient))
        self.assertGreater(len(verbs_of(Client)), 14)
        self.assertEqual(Retry().attempts, 8)
