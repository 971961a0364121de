import { describe, expect, test } from "vitest";
import { eventReader, type ServerEvent } from "./server-events";

describe("the reader of events", () => {
  const text = ": hi\n\nevent: one\ndata: a\ndata: b\n\ndata:é€😀\r\n\r\nid: 7\n\ndata: last\r\rdata: cut";
  const expected: ServerEvent[] = [
    { event: "one", data: "a\nb" },
    { event: "", data: "é€😀" },
    { event: "", data: "last" },
  ];

  test("tells the same events however the bytes are cut, and never half of one", () => {
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const seen: ServerEvent[] = [];
      const read = eventReader((event) => (seen.push(event) > 0 ? "more" : "enough"));
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
      expect(seen).toEqual(expected);
    }
  });

  test("tells nothing after the last one", () => {
    const seen: ServerEvent[] = [];
    const read = eventReader((event) => (seen.push(event) === 2 ? "enough" : "more"));
    expect(read(Buffer.from(text))).toBe("enough");
    expect(seen).toEqual(expected.slice(0, 2));
  });
});
