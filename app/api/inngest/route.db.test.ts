import { expect, test } from "vitest";
import { usesInngestServer } from "@/server/platform/settings/env";
import * as route from "./route";

test("without an Inngest server no one can start a function from outside", async () => {
  expect(usesInngestServer).toBe(false);
  for (const handler of [route.GET, route.POST, route.PUT]) {
    const answer = await (handler as () => Promise<Response> | Response)(); // for any request
    expect(answer.status).toBe(404);
  }
});
