"""The asynchronous client: the verbs of Client, to await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, BinaryIO, Optional, TypeVar, Union

import httpx

from . import verbs
from .events import StreamFrame
from .transport import Core, Emit, Retry, Send, Sleep, Verb, is_open
from .types import ArtifactRef, Job, JobEvent, KeySet
from .verbs import Download, Mode, OnApproval, Run, Submission
from .verify import Verification, verify_document

T = TypeVar("T")


class AsyncClient:
    """A client of one Capstan service. Close it, or use it with ``async with``. The key cannot be read from it.

    ``project_id`` is for requests that name none. ``http_client`` replaces the client's own connections. A request is
    given up after ``timeout`` seconds without a byte.
    """

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        project_id: Optional[str] = None,
        retry: Retry = Retry(),
        timeout: float = 300,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        self._core = Core(base_url, api_key, project_id, retry, timeout)
        self._http = http_client or httpx.AsyncClient()
        self._is_own = http_client is None
        self._keys: Optional[KeySet] = None

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the client's own connections."""
        if self._is_own:
            await self._http.aclose()

    async def get(self, path: str, **options: Any) -> Any:
        """The JSON of any operation: ``get("/v1/jobs/{job_id}", path_params={"job_id": job_id}, query={…})``.

        Writes also take ``body``, and all take ``headers``. Raises CapstanError unless the status is 2xx.
        """
        return await self._run(self._core.call("GET", path, **options))

    async def post(self, path: str, **options: Any) -> Any:
        return await self._run(self._core.call("POST", path, **options))

    async def put(self, path: str, **options: Any) -> Any:
        return await self._run(self._core.call("PUT", path, **options))

    async def patch(self, path: str, **options: Any) -> Any:
        return await self._run(self._core.call("PATCH", path, **options))

    async def delete(self, path: str, **options: Any) -> Any:
        return await self._run(self._core.call("DELETE", path, **options))

    async def fetch(self, path: str, method: str = "GET", **options: Any) -> httpx.Response:
        """A response that is not JSON. Raises CapstanError unless the status is 2xx."""
        return await self._run(self._core.send(self._core.request(method, path, **options)))

    async def run_and_wait(
        self,
        capability: str,
        input: dict[str, Any],
        *,
        max_cost_usd: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        execution: Optional[dict[str, Any]] = None,
        request: Optional[dict[str, Any]] = None,
        mode: Optional[Mode] = None,
        timeout_seconds: float = 600,
        on_approval: OnApproval = "throw",
        on_job: Optional[Callable[[Job], object]] = None,
    ) -> Run[Awaitable[Download]]:
        """Runs a capability to its end, synchronously or as a job, depending on the capability."""
        sent = Submission(self._core, capability, input, max_cost_usd, idempotency_key, execution, request)
        return await self._run(sent.run_and_wait(self.download, mode, timeout_seconds, on_approval, on_job))

    async def submit(
        self,
        capability: str,
        input: dict[str, Any],
        *,
        max_cost_usd: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        execution: Optional[dict[str, Any]] = None,
        request: Optional[dict[str, Any]] = None,
    ) -> Job:
        """Submits a durable job and returns it."""
        sent = Submission(self._core, capability, input, max_cost_usd, idempotency_key, execution, request)
        job: Job = await self._run(sent.send("job"))
        return job

    async def wait_for_job(
        self,
        job_id: str,
        *,
        timeout_seconds: float = 600,
        on_approval: OnApproval = "throw",
        on_job: Optional[Callable[[Job], object]] = None,
    ) -> Run[Awaitable[Download]]:
        """Waits for a submitted job; also continues the wait after a timeout or an approval."""
        waiting = verbs.wait_for_job(self._core, job_id, self.download, timeout_seconds, on_approval, on_job)
        return await self._run(waiting)

    async def stream(
        self,
        capability: str,
        input: dict[str, Any],
        *,
        max_cost_usd: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        execution: Optional[dict[str, Any]] = None,
        request: Optional[dict[str, Any]] = None,
        reconnect_seconds: float = 0.5,
    ) -> AsyncStreamRun:
        """Runs a capability and streams its text."""
        sent = Submission(self._core, capability, input, max_cost_usd, idempotency_key, execution, request)
        started = await self._run(sent.send("invoke", executionMode="Stream"))
        return AsyncStreamRun(self, capability, started["executionId"], reconnect_seconds)

    async def job_events(
        self, job_id: str, *, last_event_id: str = "", reconnect_seconds: float = 0.5
    ) -> AsyncIterator[JobEvent]:
        """A job's events as they are written, until its end."""
        async for frame in self._iterate(verbs.job_events(self._core, job_id, last_event_id, reconnect_seconds)):
            yield frame.data

    async def download(self, job_id: str, artifact: ArtifactRef) -> Download:
        """The bytes of an artifact, verified against the SHA-256 in the receipt."""
        return await self._run(verbs.download(self._core, job_id, artifact))

    async def upload_adapter(
        self,
        file: Union[bytes, BinaryIO],
        *,
        filename: str = "weights.safetensors",
        project_id: Optional[str] = None,
        **fields: Any,
    ) -> Any:
        """Uploads LoRA weights; an open file is read while it is sent. ``fields`` are those of the form."""
        return await self._run(verbs.upload_adapter(self._core, file, filename, project_id, fields))

    async def verify(
        self, document: Union[str, bytes, Mapping[str, Any]], *, keys: Optional[KeySet] = None
    ) -> Verification:
        """Verifies a receipt, pinned record, manifest or lockfile with the service's published keys, or the given ones."""
        return verify_document(document, keys or await self.key_set())

    async def key_set(self) -> KeySet:
        """The service's published keys for verification."""
        self._keys = self._keys or await self.get("/.well-known/jwks.json")
        return self._keys

    async def _run(self, verb: Verb[T]) -> T:
        """Does the steps of a verb to its result."""
        answer: Any = None
        while True:
            try:
                step = verb.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            answer = await self._send(step) if isinstance(step, Send) else None
            if isinstance(step, Sleep):
                await asyncio.sleep(step.seconds)

    async def _iterate(self, verb: Verb[None]) -> AsyncIterator[Any]:
        """Does the steps of a verb, and yields what it emits. One stream is open at a time."""
        answer: Any = None
        stream: Optional[tuple[httpx.Response, AsyncIterator[bytes]]] = None
        try:
            while True:
                try:
                    step = verb.send(answer)
                except StopIteration:
                    return
                answer = None
                if isinstance(step, Emit):
                    yield step.value
                elif isinstance(step, Sleep):
                    await asyncio.sleep(step.seconds)
                elif isinstance(step, Send):
                    answer = await self._send(step)
                    if is_open(step, answer):
                        if stream:
                            await stream[0].aclose()
                        stream = (answer, answer.aiter_bytes())
                elif stream:
                    try:
                        answer = await anext(stream[1], None)
                    except httpx.RequestError as error:
                        answer = error
        finally:
            if stream:
                await stream[0].aclose()

    async def _send(self, step: Send) -> Union[httpx.Response, httpx.RequestError]:
        try:
            response = await self._http.send(step.request, stream=True, follow_redirects=True)
            try:
                if not is_open(step, response):
                    await response.aread()
            except BaseException:
                await response.aclose()
                raise
            return response
        except httpx.RequestError as error:
            return error


class AsyncStreamRun(verbs.Streamed[Awaitable[Download]]):
    """A streaming execution. It continues even if it is not read; it can be read only once."""

    def __init__(self, client: AsyncClient, capability: str, execution_id: str, reconnect_seconds: float) -> None:
        super().__init__(client._core, capability, execution_id)
        self._client = client
        self._frames = client._iterate(verbs.execution_events(client._core, execution_id, reconnect_seconds))

    async def __aiter__(self) -> AsyncIterator[StreamFrame]:
        async for frame in self._frames:
            yield self._note(frame)

    async def text(self) -> AsyncIterator[str]:
        """The text in pieces; together they are the complete output. Raises RunFailedError if the execution fails."""
        async for frame in self:
            if piece := verbs.text_in(frame):
                yield piece
        self._require_success()

    async def result(self) -> Run[Awaitable[Download]]:
        """Reads the rest and returns the result. Raises RunFailedError if the execution failed."""
        async for _ in self:
            pass
        return await self._client._run(self._result())
