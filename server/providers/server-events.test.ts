import { describe, expect, test } from "vitest";
import { eventReader, type ServerEvent } from "./server-events";

describe("the event reader", () => {
  const text = ": hi\n\nevent: one\ndata: a\ndata: b\n\ndata:é€😀\r\n\r\nid: 7\n\ndata: last\r\rdata: cut";
  const expected: ServerEvent[] = [
    { event: "one", data: "a\nb" },
    { event: "", data: "é€😀" },
    { event: "", data: "last" },
  ];

  test("events are the same however the bytes are cut, and incomplete ones are dropped", () => {
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const seen: ServerEvent[] = [];
      const read = eventReader((event) => (seen.push(event) > 0 ? "more" : "enough"));
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
      expect(seen).toEqual(expected);
    }
  });

  test("nothing is read after the reader has enough", () => {
    const seen: ServerEvent[] = [];
    const read = eventReader((event) => (seen.push(event) === 2 ? "enough" : "more"));
    expect(read(Buffer.from(text))).toBe("enough");
    expect(seen).toEqual(expected.slice(0, 2));
  });
});

describe("an error outside the framing of events", () => {
  const HELLO = 'data: {"text":"Hello"}\n\n';
  const ERROR = { error: { code: 429, message: "Quota exceeded.", status: "RESOURCE_EXHAUSTED" } };
  const read = (text: string, size = text.length) => {
    const seen: unknown[] = [];
    const take = eventReader(({ data }) => (seen.push(JSON.parse(data)) > 0 ? "more" : "enough"));
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size));
    return seen;
  };

  test.each([
    ["on a line", `${HELLO}${JSON.stringify(ERROR)}\n`],
    ["without an end of its line", HELLO + JSON.stringify(ERROR)],
    ["on several lines", `${HELLO}${JSON.stringify(ERROR, null, 2)}\r\n`],
    ["on several lines without an end", HELLO + JSON.stringify(ERROR, null, 2)],
    ["before a field that follows it", `${HELLO}${JSON.stringify(ERROR)}\nevent: x`],
    ["after JSON that says nothing", `${HELLO}{"id":1}\n${JSON.stringify(ERROR)}\n`],
    ["in data of an event that had not ended", `${HELLO}data: {"tex\ndata: ${JSON.stringify(ERROR)}\n\n`],
    ["after data of an event that had not ended", `${HELLO}data: {"tex\n${JSON.stringify(ERROR)}\n`],
  ])("an error %s is passed on as an event, however the bytes are cut", (_, text) => {
    for (const size of [text.length, 1, 7]) expect(read(text, size)).toEqual([{ text: "Hello" }, ERROR]);
  });

  test("JSON that seems to end at each line is parsed a limited number of times", { timeout: 20_000 }, () => {
    const endless = `{"a":[{}\n${",{}\n".repeat(16_000)}`;
    expect(read(`${endless.repeat(40)}${HELLO}${JSON.stringify(ERROR)}\n`)).toEqual([
      { text: "Hello" },
      ERROR,
    ]);
  });

  test.each([
    ["JSON that is no error", `${HELLO}{"text":"lo"}\n\n${HELLO}`],
    ["an error of which the end is missing", `${HELLO}${JSON.stringify(ERROR).slice(0, -1)}\n\n${HELLO}`],
    ["an error that is too long", `${HELLO}{"error":{\n${'"a":1,\n'.repeat(20_000)}"b":1}}\n${HELLO}`],
  ])("%s is skipped", (_, text) => {
    expect(read(text)).toEqual([{ text: "Hello" }, { text: "Hello" }]);
  });
});
