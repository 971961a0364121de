"""Requests to the service and their retries, for the synchronous and the asynchronous client.

A verb is a generator: it yields what has to be done (a Step) and is sent the result. The clients differ only in how they
do a step, so every rule is written once.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Optional, TypeVar, Union
from urllib.parse import quote, urlsplit

import httpx

from .errors import CapstanError, error_of

VERSION = "0.2.0"


@dataclass(frozen=True)
class Send:
    """Answered with a response, or with the httpx.RequestError. A 2xx response to a stream is not read yet."""

    request: httpx.Request
    is_stream: bool


@dataclass(frozen=True)
class Read:
    """Answered with the next bytes of an open stream, None at its end, or the error that interrupted it."""

    response: httpx.Response


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Emit:
    """A value for the code that iterates over the verb."""

    value: Any


Step = Union[Send, Read, Sleep, Emit]
T = TypeVar("T")
Verb = Generator[Step, Any, T]
Answer = Union[httpx.Response, httpx.RequestError]


@dataclass(frozen=True)
class Retry:
    #: The most times a request is sent.
    attempts: int = 8
    #: The delay before a retry if the service sends none, multiplied by the attempts made.
    wait_seconds: float = 0.75
    #: A longer Retry-After is raised instead of waited for.
    longest_wait_seconds: float = 60


#: The paths where a POST with an idempotency key is safe to repeat.
KEYED = (
    "/v1/audio/speech",
    "/v1/capabilities/{capability_key}/invoke",
    "/v1/capabilities/{capability_key}/jobs",
    "/v1/capabilities/{capability_key}/comparisons",
    "/v1/capability-requests",
    "/v1/chat/completions",
    "/v1/embeddings",
    "/v1/images/edits",
    "/v1/images/generations",
    "/v1/inference/pinned",
    "/v1/inference/pinned/bulk",
    "/v1/inference/pinned/bulk/{bulk_id}/retry",
    "/v1/jobs/{job_id}/retry",
    "/v1/responses",
)
_IS_KEYED = re.compile("|".join(re.sub(r"\{\w+\}", "[^/]+", path) for path in KEYED))


class Core:
    """One service: its address, how requests to it are made, and when they are sent again."""

    def __init__(
        self, base_url: str, api_key: Optional[str], project_id: Optional[str], retry: Retry, timeout: float
    ) -> None:
        if api_key is not None and not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError("api_key contains an invalid character, such as a line break.")
        self.base = _base_of(base_url)
        self.project_id = project_id
        self._retry = retry
        self._extensions = {"timeout": httpx.Timeout(timeout, connect=min(timeout, 10)).as_dict()}
        # The key is in closures only, so it is in nothing that can be printed.
        bearer = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        self._authorization: Callable[[], dict[str, str]] = lambda: bearer
        self._hidden: Callable[[str], str] = lambda text: text.replace(api_key, "[key]") if api_key else text

    def request(
        self,
        method: str,
        path: str,
        *,
        path_params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        **content: Any,
    ) -> httpx.Request:
        """A request of the API. One that starts work has an idempotency key, so every attempt is the same submission."""
        named = {name: quote(value, safe="") for name, value in (path_params or {}).items()}
        path = path.format(**named) if path_params is not None else path
        if not path.startswith("/"):
            raise ValueError("A path starts with /.")
        sent = {"user-agent": f"capstan-client-python/{VERSION}", **self._authorization()}
        sent.update({name.lower(): value for name, value in (headers or {}).items()})
        if method == "POST" and _IS_KEYED.fullmatch(path):
            sent.setdefault("idempotency-key", _key_in(body) or new_idempotency_key())
        return httpx.Request(
            method,
            self.base + path,
            params={name: value for name, value in (query or {}).items() if value is not None} or None,
            headers=[(name.encode(), value.encode()) for name, value in sent.items()],
            json=body,
            extensions=self._extensions,
            **content,
        )

    def send(self, request: httpx.Request, is_stream: bool = False) -> Verb[httpx.Response]:
        """A 2xx response; anything else is raised.

        Only requests that cannot run twice are sent again: reads, and writes with an idempotency key.
        """
        is_repeatable = request.method in ("GET", "HEAD", "OPTIONS") or "idempotency-key" in request.headers
        tries = 1
        while True:
            answer: Answer = yield Send(request, is_stream)
            if isinstance(answer, httpx.Response) and answer.is_success:
                return answer
            error = self._error_of(answer, is_only=tries == 1)
            # An error with an execution id is that execution's result: the same key would return it again.
            if not (is_repeatable and tries < self._retry.attempts and error.retryable) or error.execution_id:
                raise error
            given = error.retry_after_seconds
            seconds = self._retry.wait_seconds * tries if given is None else given
            if seconds > self._retry.longest_wait_seconds:
                raise error
            yield Sleep(seconds)
            tries += 1

    def call(self, method: str, path: str, **options: Any) -> Verb[Any]:
        """The JSON of an operation; None if it has no content."""
        response = yield from self.send(self.request(method, path, **options))
        return response.json() if response.content else None

    def _error_of(self, answer: Answer, is_only: bool) -> CapstanError:
        if isinstance(answer, httpx.Response):
            return error_of(answer, self._hidden(answer.text), is_only)
        reason = self._hidden(str(answer)) or type(answer).__name__
        return CapstanError(
            f"{self.base} could not be reached: {reason}. Check the base URL and that the service is running.",
            status=0,
            code="Unreachable",
            details={"reason": reason},
            retryable=True,
        )


def is_open(step: Send, answer: Answer) -> bool:
    """Whether this is the response to a stream, which is read in pieces."""
    return step.is_stream and isinstance(answer, httpx.Response) and answer.is_success


def new_idempotency_key() -> str:
    """A new idempotency key, with which a submission runs only once."""
    return f"run-{secrets.token_hex(16)}"


def _key_in(body: Any) -> Optional[str]:
    key = body.get("idempotencyKey") if isinstance(body, Mapping) else None
    return key if isinstance(key, str) and key.strip() else None


def _base_of(base_url: str) -> str:
    """The URL that paths are appended to. A URL ending in /v1 is accepted too, because paths start with it."""
    url = urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc:
        raise ValueError("base_url must be an http or https URL without a user name and password.")
    return f"{url.scheme}://{url.netloc}{re.sub(r'/v1$', '', url.path.rstrip('/'))}"
