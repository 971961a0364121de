import { describe, expect, test } from "vitest";
import { Fault } from "@/server/platform/errors/errors";
import { begun } from "./begun";
import type { Heard } from "./result";

/* When the head of a streamed answer is sent, and with which status. */

async function* of(...events: Heard[]): AsyncGenerator<Heard> {
  yield* events;
}
async function all(events: AsyncIterable<Heard>): Promise<Heard[]> {
  const list: Heard[] = [];
  for await (const event of events) list.push(event);
  return list;
}
const failed: Heard = {
  type: "failed",
  code: "ProviderUnavailable",
  message: "No capacity.",
  details: { a: 1 },
};
const text: Heard = { type: "text", text: "Hello" };

describe("the first event of a stream", () => {
  test("a failure before any text is thrown with its code and details", async () => {
    const fault = await begun(of({ type: "quiet" }, failed)).catch((cause) => cause);
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: "ProviderUnavailable", message: "No capacity.", details: { a: 1 } });
  });

  test("a failure after text is an event of the stream", async () => {
    expect(await all(await begun(of(text, failed)))).toEqual([text, failed]);
  });

  test("a stream that is silent for too long begins, and a later failure is one of its events", async () => {
    let speak = () => {};
    const silent = (async function* (): AsyncGenerator<Heard> {
      await new Promise<void>((resolve) => {
        speak = resolve;
      });
      yield failed;
    })();
    const events = await begun(silent, 0);
    speak();
    expect(await all(events)).toEqual([failed]);
  });

  test("a reader that stops early closes the stream that it reads", async () => {
    let hasEnded = false;
    const endless = (async function* (): AsyncGenerator<Heard> {
      try {
        for (;;) yield text;
      } finally {
        hasEnded = true;
      }
    })();
    for await (const event of await begun(endless)) {
      expect(event).toEqual(text);
      break;
    }
    expect(hasEnded).toBe(true);
  });
});
