"""What the clients do, written once for both: each verb is a generator of steps (see transport)."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, Literal, Optional, TypeVar, Union
from urllib.parse import quote

from .errors import AwaitingApprovalError, CapstanError, IntegrityError, RunFailedError, WaitTimeoutError
from .events import StreamFrame, follow
from .transport import Core, Sleep, Verb, new_idempotency_key
from .types import ArtifactRef, Charge, Job, Receipt

D = TypeVar("D", covariant=True)
Mode = Literal["invoke", "job"]
OnApproval = Literal["throw", "wait"]
#: How a client starts the download of an artifact.
Fetch = Callable[[str, ArtifactRef], D]

_SUBMIT = {"job": "/v1/capabilities/{capability_key}/jobs", "invoke": "/v1/capabilities/{capability_key}/invoke"}
_ENDED = ("succeeded", "failed", "canceled")


@dataclass(frozen=True)
class Download:
    data: bytes
    media_type: str
    filename: str
    sha256: str


@dataclass(frozen=True)
class Artifact(Generic[D]):
    artifact_id: str
    sha256: Optional[str]
    filename: Optional[str]
    media_type: str
    _start: Callable[[], D] = field(repr=False, compare=False)

    def download(self) -> D:
        """Its bytes, verified against the SHA-256 in the receipt; of an AsyncClient, await them."""
        return self._start()


@dataclass(frozen=True)
class Run(Generic[D]):
    """A successful run."""

    id: str
    capability: str
    output: Any
    #: None while it is part of a comparison that is not judged yet.
    receipt: Optional[Receipt]
    artifacts: list[Artifact[D]]
    warnings: list[dict[str, Any]]
    #: What you pay. None while it is part of a comparison that is not judged yet.
    charge: Optional[Charge] = None


@dataclass(frozen=True)
class Submission:
    """A capability with its input and limits, under one idempotency key: every attempt is the same submission."""

    core: Core
    capability: str
    input: dict[str, Any]
    max_cost_usd: Optional[float] = None
    idempotency_key: Optional[str] = None
    execution: Optional[dict[str, Any]] = None
    request: Optional[dict[str, Any]] = None

    def send(self, mode: Mode, **more: Any) -> Verb[Any]:
        execution = dict(self.execution or {})
        if self.max_cost_usd is not None:
            constraints = execution.get("executionConstraints") or {}
            execution["executionConstraints"] = {**constraints, "maxCostUsd": self.max_cost_usd}
        project = self.core.project_id
        context = {"context": {"productId": project, "projectId": project}} if project is not None else {}
        body = {**context, **(self.request or {}), "input": self.input, **more}
        if execution:
            body["execution"] = execution
        return self.core.call(
            "POST",
            _SUBMIT[mode],
            path_params={"capability_key": self.capability},
            body=body,
            headers={"idempotency-key": self.idempotency_key or new_idempotency_key()},
        )

    def run_and_wait(
        self,
        fetch: Fetch[D],
        mode: Optional[Mode],
        timeout_seconds: float,
        on_approval: OnApproval,
        on_job: Optional[Callable[[Job], object]],
    ) -> Verb[Run[D]]:
        if mode is None:
            path = {"capability_key": self.capability}
            described = yield from self.core.call("GET", "/v1/capabilities/{capability_key}", path_params=path)
            # A synchronous call where the capability has one: its answer is the result.
            mode = "invoke" if "invoke_sync" in described["executionModes"] else "job"
        sent = yield from self.send(mode)
        if mode == "job":
            job_id = sent["jobId"]
            return (yield from wait_for_job(self.core, job_id, fetch, timeout_seconds, on_approval, on_job))
        execution_id = sent["executionId"]
        receipt = yield from receipt_of(self.core, execution_id)
        artifacts = _artifacts(execution_id, (receipt or {}).get("artifacts") or [], fetch)
        output, charge = sent["typedOutput"], sent.get("charge")
        return Run(execution_id, self.capability, output, receipt, artifacts, sent["warnings"], charge)


#: How long one request waits, in seconds: shorter than proxies keep a silent connection.
_MOST_WAIT_SECONDS = 25


def wait_for_job(
    core: Core,
    job_id: str,
    fetch: Fetch[D],
    timeout_seconds: float,
    on_approval: OnApproval,
    on_job: Optional[Callable[[Job], object]],
) -> Verb[Run[D]]:
    deadline = time.monotonic() + timeout_seconds
    known: Optional[str] = None
    while True:
        asked = time.monotonic()
        # The first answer says what there is to wait for; the next ones come when its status changes.
        wait_seconds = max(0, min(_MOST_WAIT_SECONDS, math.ceil(deadline - asked))) if known else 0
        query = {"waitSeconds": wait_seconds}
        job: Job = yield from core.call("GET", "/v1/jobs/{job_id}", path_params={"job_id": job_id}, query=query)
        if on_job:
            on_job(job)
        status = job["status"]
        if status == "succeeded":
            receipt = yield from receipt_of(core, job_id)
            listed = receipt["artifacts"] if receipt else job["artifacts"]
            artifacts = _artifacts(job_id, listed, fetch)
            key, output, charge = job["capabilityKey"], job["typedOutput"], job.get("charge")
            return Run(job_id, key, output, receipt, artifacts, job["warnings"], charge)
        if status in ("failed", "canceled", "needs_attention"):
            raise _failure_of(job)
        if status == "awaiting_approval" and on_approval == "throw":
            approval = job.get("approval") or {}
            url = approval.get("approvalUrl") or ""
            why = approval.get("message") or "The job needs a person's approval."
            raise AwaitingApprovalError(job_id, url, f"{why} {url}".strip(), approval)
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(job_id, timeout_seconds)
        # An older service does not wait: it is polled at the job's own interval.
        if status == known and time.monotonic() - asked < wait_seconds / 2:
            wait = job.get("pollAfterSeconds")
            seconds = 4 if wait is None else wait
            if time.monotonic() + seconds > deadline:
                raise WaitTimeoutError(job_id, timeout_seconds)
            yield Sleep(seconds)
        known = status


def _failure_of(job: Job) -> RunFailedError:
    """The error of a job that will not succeed without action."""
    error = job.get("error") or {}
    message = error.get("message") or f"The job is {job['status']}."
    return RunFailedError(
        " ".join(filter(None, [message, error.get("resolution")])),
        status=200,
        code=error.get("code") or job["status"],
        details={name: value for name, value in error.items() if name not in ("code", "message", "retryable")},
        new_key_safe=job["retry"]["newKeySafe"],
        next_action=job["nextAction"],
        execution_id=job["jobId"],
        receipt_id=job.get("receiptId"),
    )


def receipt_of(core: Core, job_id: str) -> Verb[Optional[Receipt]]:
    """None while a blind comparison hides it."""
    try:
        receipt: Receipt = yield from core.call(
            "GET", "/v1/jobs/{job_id}/receipt", path_params={"job_id": job_id}
        )
        return receipt
    except CapstanError as error:
        if error.code == "ComparisonUnjudged":
            return None
        raise


def _artifacts(job_id: str, listed: list[ArtifactRef], fetch: Fetch[D]) -> list[Artifact[D]]:
    def bound(ref: ArtifactRef) -> Artifact[D]:
        filename, sha256 = ref.get("filename"), ref.get("sha256")
        return Artifact(ref["artifactId"], sha256, filename, ref["mediaType"], lambda: fetch(job_id, ref))

    return [bound(ref) for ref in listed]


def download(core: Core, job_id: str, artifact: ArtifactRef) -> Verb[Download]:
    """Raises IntegrityError unless the bytes are those that the receipt seals."""
    artifact_id = artifact["artifactId"]
    path = {"job_id": job_id, "artifact_id": artifact_id}
    request = core.request("GET", "/v1/jobs/{job_id}/artifacts/{artifact_id}", path_params=path)
    response = yield from core.send(request)
    found = hashlib.sha256(response.content).hexdigest()
    sealed = (artifact.get("sha256") or "").removeprefix("sha256:").lower()
    if sealed != found:
        why = "was changed: its SHA-256 is not the one that the receipt seals."
        why = why if sealed else "cannot be verified: no SHA-256 is known for it."
        facts = {"artifactId": artifact_id, "sealed": sealed or None, "downloaded": found}
        raise IntegrityError(f"{artifact_id} {why}", facts)
    media_type = response.headers.get("content-type") or artifact["mediaType"]
    return Download(response.content, media_type, artifact.get("filename") or artifact_id, found)


def upload_adapter(
    core: Core,
    file: Union[bytes, BinaryIO],
    filename: str,
    project_id: Optional[str],
    fields: dict[str, Any],
) -> Verb[Any]:
    """The fields are sent before the file, so that errors in them are reported before the file is sent."""
    texts = {name: [str(each) for each in _list(value)] for name, value in fields.items() if value is not None}
    query = {"projectId": project_id or core.project_id}
    return core.call("POST", "/v1/adapters/upload", query=query, data=texts, files={"file": (filename, file)})


def _list(value: Any) -> list[Any]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [str(each).lower() if isinstance(each, bool) else each for each in values]


def job_events(core: Core, job_id: str, last_event_id: str, reconnect_seconds: float) -> Verb[None]:
    had_ended = False

    # The service ends the stream after the last event of an ended job, including events after its end.
    def has_ended(last: Optional[StreamFrame], is_whole: bool) -> Verb[bool]:
        nonlocal had_ended
        had_ended = had_ended or (last is not None and last.event.removeprefix("job.") in _ENDED)
        if had_ended:
            return is_whole
        job = yield from core.call("GET", "/v1/jobs/{job_id}", path_params={"job_id": job_id})
        had_ended = job["status"] in _ENDED
        return False  # the job may have ended after the stream did, so the last events are requested once more

    path = f"/v1/jobs/{quote(job_id, safe='')}/events"
    return follow(core, path, has_ended, last_event_id, reconnect_seconds)


_LAST = ("execution.succeeded", "execution.failed")


def execution_events(core: Core, execution_id: str, reconnect_seconds: float) -> Verb[None]:
    def has_ended(last: Optional[StreamFrame], _: bool) -> Verb[bool]:
        return last is not None and last.event in _LAST
        yield  # a verb without steps

    path = f"/v1/executions/{quote(execution_id, safe='')}/events"
    return follow(core, path, has_ended, "", reconnect_seconds)


def text_in(frame: StreamFrame) -> str:
    """The text of a frame; empty if it has none."""
    piece = frame.data.get("text") if frame.event == "token" else None
    return piece if isinstance(piece, str) else ""


class Streamed(Generic[D]):
    """What the streaming executions of both clients know: the last frame, and what follows from it."""

    def __init__(self, core: Core, capability: str, execution_id: str) -> None:
        self.execution_id = execution_id
        self._core = core
        self._capability = capability
        self._end: Optional[StreamFrame] = None

    def _note(self, frame: StreamFrame) -> StreamFrame:
        if frame.event in _LAST:
            self._end = frame
        return frame

    def _require_success(self) -> StreamFrame:
        if self._end is None:
            message = "Reading the stream stopped before its end."
            raise CapstanError(message, status=0, code="StreamLeft", execution_id=self.execution_id)
        if self._end.event == "execution.failed":
            error = dict(self._end.data["error"])
            raise RunFailedError(
                error.pop("message"),
                status=200,
                code=error.pop("code"),
                details=error,
                execution_id=self.execution_id,
                receipt_id=self._end.data.get("receiptId"),
            )
        return self._end

    def _result(self) -> Verb[Run[D]]:
        end = self._require_success().data
        receipt = yield from receipt_of(self._core, self.execution_id)
        output, charge = end["typedOutput"], end.get("charge")
        return Run(self.execution_id, self._capability, output, receipt, [], [], charge)
