"""Webhooks, signed as Standard Webhooks describes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Union

from .errors import WebhookSignatureError
from .types import WebhookEvent


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
) -> WebhookEvent:
    """The event of a webhook, if one of the secrets signed it. Raises WebhookSignatureError otherwise.

    ``body`` is the body as it was received: parsing and writing it again changes its bytes. While the secret is being
    rotated, give both. Deliveries are repeated: skip a ``webhook-id`` that you have handled.
    """
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise WebhookSignatureError(f"The header {name} is missing.")
    signed_at = given["webhook-timestamp"]
    if not (signed_at.isdecimal() and abs(time.time() - int(signed_at)) <= tolerance_seconds):
        raise WebhookSignatureError(f"The delivery was not signed within {tolerance_seconds:g} seconds of now.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{given['webhook-id']}.{signed_at}.".encode() + content
    for one in [secret] if isinstance(secret, str) else secret:
        key = _key_of(one)
        expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) if key else None
        for signature in given["webhook-signature"].split(" "):
            if expected and hmac.compare_digest(expected, signature.encode()):
                event: WebhookEvent = json.loads(content)
                return event
    raise WebhookSignatureError("No signature of the delivery matches its body and the secret.")


def _key_of(secret: str) -> bytes:
    """``whsec_`` and base64, or the UTF-8 bytes of any other text; empty if it is neither."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret[6:], validate=True)
    except ValueError:
        return b""
