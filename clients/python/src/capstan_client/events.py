"""Event streams: followed to their end, and resumed after a lost connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from .errors import CapstanError
from .transport import Core, Emit, Read, Sleep, Verb

_MOST_EMPTY = 8


@dataclass(frozen=True)
class StreamFrame:
    """One frame of an event stream."""

    id: str
    event: str
    data: Any


def frame_of(block: str) -> Optional[StreamFrame]:
    identifier, event, data = "", "message", []
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        if name == "id":
            identifier = value.strip()
        elif name == "event":
            event = value.strip()
        elif name == "data":
            data.append(value.lstrip())
    return StreamFrame(identifier, event, json.loads("\n".join(data))) if data else None


def follow(
    core: Core,
    path: str,
    has_ended: Callable[[Optional[StreamFrame], bool], Verb[bool]],
    last_event_id: str = "",
    reconnect_seconds: float = 0.5,
) -> Verb[None]:
    """Emits the frames of a stream to its end. Each connection resumes after the last received frame and drops repeated
    ones, so no frame is lost or duplicated. After each connection ``has_ended(last, is_whole)`` decides whether the stream
    has ended; ``is_whole`` means that the service closed the connection normally.
    """
    seen, last, empty = last_event_id, None, 0
    while True:
        before = seen
        headers = {"accept": "text/event-stream", **({"last-event-id": seen} if seen else {})}
        response = yield from core.send(core.request("GET", path, headers=headers), is_stream=True)
        rest = b""
        while isinstance(chunk := (yield Read(response)), bytes):
            *blocks, rest = (rest + chunk).split(b"\n\n")
            for block in blocks:
                frame = frame_of(block.decode())
                # Asked to resume beyond the last frame, the service resumes at that one: no first frame is a repeated one.
                if frame is None or (last and frame.id and seen and int(frame.id) <= int(seen)):
                    continue
                seen, last = frame.id or seen, frame
                yield Emit(frame)
        if (yield from has_ended(last, chunk is None)):
            return
        empty = 0 if seen != before else empty + 1
        if empty > _MOST_EMPTY:
            raise CapstanError(
                "The stream was interrupted too often.", status=0, code="Unreachable", retryable=True
            )
        yield Sleep(reconnect_seconds * (empty + 1))
