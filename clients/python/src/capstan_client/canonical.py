"""The canonical form of JSON (RFC 8785), in which documents are hashed and signed."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

#: Numbers are doubles, as in ECMAScript; greater integers are not exact.
_MOST_EXACT = 2**53


def canonical_text(value: Any) -> str:
    """The RFC 8785 text of a JSON value. Raises ValueError or OverflowError for what JSON cannot say."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(map(str, value), key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_string(key)}:{canonical_text(value[key])}" for key in keys) + "}"
    raise ValueError(f"a {type(value).__name__} is no JSON value")


def _string(text: str) -> str:
    text.encode()  # a lone surrogate has no canonical form
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    """As ECMAScript writes it."""
    if isinstance(value, int) and abs(value) <= _MOST_EXACT:
        return str(value)
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is no JSON number")
    if value == 0:
        return "0"
    # repr has the same shortest digits, and other rules for the exponent.
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if len(text) <= point <= 21:
        text = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        text = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{text}"
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        text = f"{text[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if sign else text
