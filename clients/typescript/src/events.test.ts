import { expect, test } from "vitest";
import { follow, type StreamFrame } from "./events";

test("a stream resumed beyond its last frame yields the frame at which the service resumes", async () => {
  const asked: (string | null)[] = [];
  const service = async ({ headers }: Request) => {
    asked.push(headers.get("last-event-id"));
    return new Response("id: 5\nevent: job.receipt_sealed\ndata: {}\n\n");
  };
  const frames: StreamFrame[] = [];
  let connections = 0;
  const options = { lastEventId: "50", reconnectMs: 0 };
  for await (const frame of follow(service, "http://capstan.test", options, () => ++connections === 2))
    frames.push(frame);
  expect(frames.map(({ id }) => id)).toEqual(["5"]); // once, although each connection sends it
  expect(asked).toEqual(["50", "5"]);
});
