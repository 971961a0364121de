"""Verifies receipts, pinned records, manifests and lockfiles from their text and the public keys alone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union

from .canonical import canonical_text
from .types import KeySet


class Check(NamedTuple):
    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    #: Every check passed.
    verified: bool
    #: None if it is none of the four kinds.
    kind: Optional[str]
    id: Optional[str]
    #: The hash that the document states: hex, or the integrity of a lockfile.
    hash: Optional[str]
    key_id: Optional[str]
    checks: list[Check]


class _Form(NamedTuple):
    kind: str
    id: str
    hash_member: str
    #: The members that are outside the seal.
    outside: tuple[str, ...]


_RECORD = ("receipt_id", "recordHash", "signature", "output", "nativeResponse", "corrections")
_FORMS = {
    "service.receipt.v1": _Form("receipt", "receiptId", "receiptHash", ("signature",)),
    "service.pinned-record.v1": _Form("pinned record", "receiptId", "recordHash", _RECORD),
    "service.manifest.v1": _Form("manifest", "manifestId", "manifestHash", ("manifestHash", "signature")),
    "service.lockfile.v1": _Form("lockfile", "receiptId", "integrity", ("integrity", "signature")),
}


def verify_document(document: Union[str, bytes, Mapping[str, Any]], keys: KeySet) -> Verification:
    """Verifies a document, as text or parsed. Never raises because of the document: it reports what is wrong.

    Text is better evidence: a member that occurs twice makes it invalid. Needs the package ``cryptography``
    (``capstan-client[verify]``).
    """
    repeated: list[str] = []
    if isinstance(document, (str, bytes)):
        try:
            document = json.loads(document, object_pairs_hook=lambda pairs: _members(pairs, repeated))
        except (ValueError, RecursionError) as error:
            return _nothing(f"The text is not JSON: {error}.")
    form = _FORMS.get(str(document.get("schemaVersion"))) if isinstance(document, Mapping) else None
    if form is None or not isinstance(document, Mapping):
        return _nothing(f"It is not a JSON object with a schemaVersion of {', '.join(_FORMS)}.")
    try:
        canonical_text(dict(document))  # the whole document: evidence must have a canonical form
        sealed = canonical_text(_sealed(document, form)).encode()
    except (ValueError, OverflowError, RecursionError) as error:
        return _nothing(f"It has no canonical form: {error}.")

    wrong = _wrong_form(document, form, repeated)
    checks = [Check("form", wrong is None, wrong or f"{document['schemaVersion']}, {len(sealed)} bytes")]
    provenance = document.get("provenance")
    holder = provenance if form.kind == "receipt" else document
    stated = _text(holder.get(form.hash_member)) if isinstance(holder, Mapping) else None
    digest = hashlib.sha256(sealed).digest()
    computed = digest.hex()
    if form.kind == "lockfile":
        computed = f"sha256-{base64.b64encode(digest).decode()}"
    checks.append(Check("hash_matches", stated == computed, f"stated {stated}, computed {computed}"))
    signature = _signature_of(document.get("signature"))
    key = _key_of(signature, keys)
    is_known = key is not None and _thumbprint(key) == key.get("kid")
    is_signed = key is not None and signature is not None and _is_signed(key, signature["value"], sealed)
    key_id = signature["keyId"] if signature else None
    checks.append(Check("key_known", is_known, f"{key_id} in a set of {len(keys['keys'])}"))
    checks.append(Check("signature_valid", is_signed, "Ed25519 over the sealed content"))
    if form.kind == "pinned record":
        checks += [
            _check_content(document, "output_matches", "output", "outputHash"),
            _check_content(document, "native_response_matches", "nativeResponse", "nativeResponseHash"),
            _check_corrections(document, keys),
        ]
    verified = all(check.ok for check in checks)
    return Verification(verified, form.kind, _text(document.get(form.id)), stated, key_id, checks)


def _sealed(document: Mapping[str, Any], form: _Form) -> dict[str, Any]:
    sealed = {name: value for name, value in document.items() if name not in form.outside}
    if form.kind == "receipt" and isinstance(sealed.get("provenance"), Mapping):
        sealed["provenance"] = {k: v for k, v in sealed["provenance"].items() if k != form.hash_member}
    return sealed


def _wrong_form(document: Mapping[str, Any], form: _Form, repeated: list[str]) -> Optional[str]:
    if repeated:
        return f"{', '.join(repeated)} occurs twice, and parsers differ in which one they use"
    if _text(document.get(form.id)) is None:
        return f"{form.id} is missing"
    if form.kind != "pinned record":
        return None
    if document.get("receipt_id") != document["receiptId"]:
        return "receipt_id differs from receiptId"
    return None if isinstance(document.get("corrections"), list) else "corrections is not a list"


def _check_content(record: Mapping[str, Any], name: str, member: str, hash_member: str) -> Check:
    """Content outside the seal is bound by a hash inside it; a copy without the content is still valid."""
    value, wanted = record.get(member), record.get(hash_member)
    if value is None:
        return Check(name, True, f"this copy has no {member}")
    computed = hashlib.sha256(canonical_text(value).encode()).hexdigest()
    return Check(name, computed == wanted, f"{hash_member} is {wanted}, computed {computed}")


def _check_corrections(record: Mapping[str, Any], keys: KeySet) -> Check:
    corrections = record.get("corrections")
    listed = corrections if isinstance(corrections, list) else []
    forged = [at for at, each in enumerate(listed) if not _is_signed_correction(each, record, keys)]
    return Check("corrections_signed", not forged, f"{len(listed)} corrections, without a valid signature: {forged}")


def _is_signed_correction(value: Any, record: Mapping[str, Any], keys: KeySet) -> bool:
    if not isinstance(value, Mapping) or value.get("receiptId") != record.get("receiptId"):
        return False
    signature = _signature_of(value.get("signature"))
    key = _key_of(signature, keys)
    if key is None or signature is None or _thumbprint(key) != signature["keyId"]:
        return False
    rest = {name: member for name, member in value.items() if name != "signature"}
    return _is_signed(key, signature["value"], canonical_text(rest).encode())


def _signature_of(value: Any) -> Optional[dict[str, str]]:
    """Requires exactly the three members; any other would be unsigned text that looks signed."""
    if not isinstance(value, Mapping) or set(value) != {"alg", "keyId", "value"} or value["alg"] != "EdDSA":
        return None
    return dict(value) if all(isinstance(each, str) for each in value.values()) else None


def _key_of(signature: Optional[dict[str, str]], keys: KeySet) -> Optional[dict[str, Any]]:
    wanted = signature["keyId"] if signature else None
    return next((key for key in keys["keys"] if signature and key.get("kid") == wanted), None)


def _thumbprint(key: dict[str, Any]) -> Optional[str]:
    """The RFC 7638 thumbprint of an Ed25519 key, which is its ``kid``. None for a key of another kind."""
    if key.get("kty") != "OKP" or key.get("crv") != "Ed25519" or not isinstance(key.get("x"), str):
        return None
    members = canonical_text({"crv": "Ed25519", "kty": "OKP", "x": key["x"]})
    return base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).decode().rstrip("=")


def _from_base64url(text: Any) -> bytes:
    """Empty unless the text is the canonical encoding of its bytes: a changed last digit could go unnoticed."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (TypeError, ValueError):
        return b""
    return data if base64.urlsafe_b64encode(data).decode().rstrip("=") == text else b""


def _is_signed(key: dict[str, Any], signature: str, body: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise RuntimeError("Verifying needs the package cryptography: capstan-client[verify].") from error
    try:
        Ed25519PublicKey.from_public_bytes(_from_base64url(key.get("x"))).verify(_from_base64url(signature), body)
    except (InvalidSignature, ValueError):
        return False
    return True


def _members(pairs: list[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated += sorted({name for name in names if names.count(name) > 1})
    return found


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None


def _nothing(detail: str) -> Verification:
    """The verification of a document of none of the four kinds."""
    return Verification(False, None, None, None, None, [Check("form", False, detail)])
