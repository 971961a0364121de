"""A typed client of Capstan's API for Python: Client, and AsyncClient with the same verbs."""

from .async_client import AsyncClient, AsyncStreamRun
from .client import Client, StreamRun
from .errors import (
    AwaitingApprovalError,
    CapstanError,
    IntegrityError,
    RunFailedError,
    WaitTimeoutError,
    WebhookSignatureError,
)
from .events import StreamFrame
from .transport import VERSION as __version__
from .transport import Retry, new_idempotency_key
from .types import ArtifactRef, Charge, Job, JobEvent, KeySet, Receipt, WebhookEvent
from .verbs import Artifact, Download, Run
from .verify import Check, Verification, verify_document
from .webhooks import verify_webhook

__all__ = [
    "Artifact",
    "ArtifactRef",
    "AsyncClient",
    "AsyncStreamRun",
    "AwaitingApprovalError",
    "CapstanError",
    "Charge",
    "Check",
    "Client",
    "Download",
    "IntegrityError",
    "Job",
    "JobEvent",
    "KeySet",
    "Receipt",
    "Retry",
    "Run",
    "RunFailedError",
    "StreamFrame",
    "StreamRun",
    "Verification",
    "WaitTimeoutError",
    "WebhookEvent",
    "WebhookSignatureError",
    "__version__",
    "new_idempotency_key",
    "verify_document",
    "verify_webhook",
]
