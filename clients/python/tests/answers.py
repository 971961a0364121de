"""Answers one question a line, as JSON, so that the same question can be asked of the service's own code."""

import json
import sys

from capstan_client import CapstanError, __version__, verify_document, verify_webhook
from capstan_client.canonical import canonical_text
from capstan_client.transport import KEYED


def verified(text, keys):
    found = verify_document(text, keys)
    return [found.verified, found.kind, found.id, found.hash, found.key_id, [c.name for c in found.checks if not c.ok]]


def canonical(value):
    try:
        return canonical_text(value)
    except (ValueError, OverflowError):
        return None


def webhook(body, headers, secret):
    try:
        return verify_webhook(body, headers, secret)
    except CapstanError as error:
        return error.code


ANSWERS = {
    "verify": verified,
    "canonical": canonical,
    "webhook": webhook,
    "version": lambda: __version__,
    "keyed": lambda: list(KEYED),
}

for line in sys.stdin:
    name, *values = json.loads(line)
    print(json.dumps(ANSWERS[name](*values)))
