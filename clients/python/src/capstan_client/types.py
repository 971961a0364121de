"""The shapes of the API that the client itself reads. Responses have more members: /docs lists all of them."""

from __future__ import annotations

from typing import Any, Optional, TypedDict


class ArtifactRef(TypedDict, total=False):
    """An artifact as listed in receipts and jobs."""

    artifactId: str
    sha256: Optional[str]
    filename: Optional[str]
    mediaType: str


class Charge(TypedDict, total=False):
    """What you pay for an execution, in micros of the currency."""

    currency: str
    estimatedMicros: int
    authorizedMicros: int
    chargedMicros: Optional[int]
    state: str


class Job(TypedDict, total=False):
    jobId: str
    projectId: str
    capabilityKey: str
    status: str
    typedOutput: Any
    charge: Optional[Charge]
    artifacts: list[ArtifactRef]
    warnings: list[dict[str, Any]]
    error: Optional[dict[str, Any]]
    receiptId: Optional[str]
    nextAction: str
    pollAfterSeconds: Optional[int]
    retry: dict[str, bool]
    approval: Optional[dict[str, Any]]


class Receipt(TypedDict, total=False):
    schemaVersion: str
    receiptId: str
    jobId: str
    status: str
    capabilityKey: str
    artifacts: list[ArtifactRef]
    pricing: dict[str, Any]
    timestamps: dict[str, Any]
    provenance: dict[str, Any]
    signature: dict[str, str]


class JobEvent(TypedDict):
    id: str
    cursor: str
    type: str
    jobId: str
    projectId: str
    createdAt: str
    payload: dict[str, Any]


class WebhookEvent(TypedDict, total=False):
    """A webhook's body: the event of a job, a capability request or a budget."""

    id: str
    type: str
    jobId: str
    projectId: str
    createdAt: str
    payload: dict[str, Any]


class KeySet(TypedDict):
    keys: list[dict[str, Any]]
