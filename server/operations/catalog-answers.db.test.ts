import { expect, test } from "vitest";
import { serve } from "@/server/api/next";
import { describeCapability, listCapabilities, listExecutionTargets } from "./capabilities";

const ANSWERS = [
  { endpoint: listCapabilities, path: "/v1/capabilities" },
  { endpoint: listCapabilities, path: "/v1/capabilities?view=summary" },
  { endpoint: listCapabilities, path: "/v1/capabilities?q=picture" },
  { endpoint: describeCapability, path: "/v1/capabilities/text.general.fast.v1" },
  { endpoint: listExecutionTargets, path: "/v1/capabilities/text.general.fast.v1/execution-targets" },
];

for (const { endpoint, path } of ANSWERS) {
  const ask = (headers: Record<string, string> = {}) =>
    serve(endpoint).GET(new Request(`http://127.0.0.1${path}`, { headers }));

  test(`${path}: a caller that has the current answer gets 304 without it`, async () => {
    const whole = await ask();
    const etag = whole.headers.get("etag") ?? "";
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-type")).toBe("application/json");
    expect(whole.headers.get("cache-control")).toBe("private, no-cache");
    expect(whole.headers.get("vary")).toBe("authorization, cookie, origin");
    await whole.json();
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask({ "if-none-match": known });
      expect([known, again.status, again.headers.get("etag")]).toEqual([known, 304, etag]);
      expect(await again.text()).toBe("");
    }
  });

  test(`${path}: a caller that has an outdated answer gets the current one`, async () => {
    const answer = await ask({ "if-none-match": '"something else"' });
    expect(answer.status).toBe(200);
    await answer.json();
  });
}
