"""The errors of the client, and how a response becomes one."""

from __future__ import annotations

import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Optional

import httpx


class CapstanError(Exception):
    """Every error of this client, except TypeError and ValueError for wrong arguments."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Optional[dict[str, Any]] = None,
        retryable: bool = False,
        new_key_safe: bool = False,
        retry_after_seconds: Optional[float] = None,
        next_action: Optional[str] = None,
        request_id: Optional[str] = None,
        execution_id: Optional[str] = None,
        receipt_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The HTTP status; 0 if there was no response.
        self.status = status
        self.code = code
        self.details = details or {}
        #: Whether the same request may be sent again with the same idempotency key.
        self.retryable = retryable
        #: Whether nothing ran, so that a new key cannot start a second execution. False if that is not known.
        self.new_key_safe = new_key_safe
        self.retry_after_seconds = retry_after_seconds
        self.next_action = next_action
        self.request_id = request_id
        #: The execution that ended with this error; its record and receipt can be read.
        self.execution_id = execution_id
        self.receipt_id = receipt_id


class RunFailedError(CapstanError):
    """A job or an execution that ended without success."""


class AwaitingApprovalError(CapstanError):
    """A job that needs a person's approval: show them ``approval_url``. It continues once they approve."""

    def __init__(self, job_id: str, approval_url: str, message: str, details: dict[str, Any]) -> None:
        super().__init__(
            message,
            status=200,
            code="awaiting_approval",
            details=details,
            next_action="present_approval",
            execution_id=job_id,
        )
        self.job_id = job_id
        self.approval_url = approval_url


class WaitTimeoutError(CapstanError):
    """The wait ended before the job did. The job continues: wait for it again, do not submit it again."""

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(
            f"{job_id} had not ended after {seconds:g} seconds. "
            "The job continues; wait for it again instead of resubmitting.",
            status=200,
            code="wait_timeout",
            next_action="poll",
            execution_id=job_id,
        )
        self.job_id = job_id


class IntegrityError(CapstanError):
    """Bytes that do not match the receipt."""

    def __init__(self, message: str, details: dict[str, Any]) -> None:
        super().__init__(message, status=200, code="integrity", details=details)


class WebhookSignatureError(CapstanError):
    """A webhook that is not from the service, was changed, or is too old."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=0, code="webhook_signature")


_TEMPORARY = {408, 429, 500, 502, 503, 504}
_REFUSED = {400, 401, 402, 403, 404, 405, 410, 413, 415, 422}


def error_of(response: httpx.Response, body: str, is_only: bool) -> CapstanError:
    """The error of a response: from ``{"detail": {code, message, …}}``, a list of validation errors, or any text.

    ``is_only``: no earlier attempt of this request can have run.
    """
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    outer: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    detail = outer.get("detail")
    said = next((each for each in (detail, outer.get("error")) if isinstance(each, dict)), outer)
    issues = [each for each in detail if isinstance(each, dict)] if isinstance(detail, list) else None
    details = said.get("details")
    if issues is not None:
        details = {"issues": issues}
    elif not isinstance(details, dict):
        details = {name: value for name, value in said.items() if name not in ("code", "message")}
    retryable = said.get("retryable")
    execution_id = _text(said.get("executionId")) or _text(details.get("executionId"))
    message = _sentence(issues) if issues else _text(said.get("message")) or _text(detail)
    seconds = said.get("retryAfterSeconds")
    return CapstanError(
        message or _plain(response, body),
        status=response.status_code,
        code=_text(said.get("code")) or ("ValidationFailed" if issues else f"HTTP_{response.status_code}"),
        details=details,
        retryable=retryable if isinstance(retryable, bool) else response.status_code in _TEMPORARY,
        new_key_safe=is_only and execution_id is None and response.status_code in _REFUSED,
        retry_after_seconds=seconds if isinstance(seconds, (int, float)) else _seconds_of(response),
        next_action=_text(said.get("nextAction")),
        request_id=response.headers.get("x-request-id"),
        execution_id=execution_id,
        receipt_id=_text(said.get("receiptId")) or _text(details.get("receiptId")),
    )


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and value else None


def _sentence(issues: list[dict[str, Any]]) -> str:
    def said(issue: dict[str, Any]) -> str:
        loc = issue.get("loc")
        path = loc[1:] if isinstance(loc, list) and loc[:1] == ["body"] else loc or []
        return ": ".join(filter(None, [".".join(map(str, path)), str(issue.get("msg"))]))

    return "; ".join(map(said, issues))


def _plain(response: httpx.Response, body: str) -> str:
    start = "" if re.search(r"<[a-z!]", body, re.I) else body.strip()[:200]
    return f"The service responded with {response.status_code}" + (f": {start}" if start else ".")


def _seconds_of(response: httpx.Response) -> Optional[float]:
    """Retry-After as in HTTP: seconds, or a date."""
    header: str = response.headers.get("retry-after", "").strip()
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, float(parsedate_to_datetime(header).timestamp()) - time.time())
    except (TypeError, ValueError):
        return None
