import { expect, test } from "vitest";
import { usesInngestServer } from "@/server/platform/settings/env";
import * as route from "./route";

test("without an Inngest server no one can start a function over HTTP", async () => {
  expect(usesInngestServer).toBe(false);
  for (const handler of [route.GET, route.POST, route.PUT]) {
    const answer = await (handler as () => Promise<Response> | Response)(); // a handler that ignores its request
    expect(answer.status).toBe(404);
  }
});
