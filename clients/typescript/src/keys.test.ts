import { expect, test } from "vitest";
import { headerText } from "@/server/platform/text/header";
import { createClient } from ".";

test("a key with any characters is the same in a header and in a body", async () => {
  const sent: (string | null)[] = [];
  const client = createClient({
    baseUrl: "http://capstan.test",
    fetch: async (request) => {
      sent.push(new Request(request).headers.get("idempotency-key"));
      return Response.json({});
    },
  });
  const keys = ["order-1", "clé-1", "鍵-🔑"];
  for (const idempotencyKey of keys) {
    const input = { messages: [{ role: "user", content: "Hello" }] };
    await client.submit("text.general.fast.v1", input, { idempotencyKey });
    await client.post("/v1/capabilities/{capability_key}/jobs", {
      params: { path: { capability_key: "text.general.fast.v1" } },
      body: { input, idempotencyKey },
    });
  }
  expect(sent.map((raw) => headerText(raw ?? ""))).toEqual(keys.flatMap((key) => [key, key]));
});
