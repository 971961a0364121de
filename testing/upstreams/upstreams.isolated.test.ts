import { afterAll, beforeAll, expect, test, vi } from "vitest";

// Read when the provider loads.
await vi.hoisted(async () => {
  const { CASES } = await import("./cases");
  const compatible = CASES.filter(({ dialect }) => dialect === "chat");
  process.env.OPENAI_COMPATIBLE_MODELS = compatible.map(({ name }) => `${name}:1:2`).join(",");
});

import { env } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";
import { CASES } from "./cases";
import { expectEnd, makeWorld, type World } from "./ends";
import { FORMS } from "./forms";
import { startUpstream, type Upstream } from "./server";

/* Every case of the corpus: what a server answers, and what its caller, the books and the receipt say then. */

const before = { ...env };
let upstream: Upstream;
let world: World;
beforeAll(async () => {
  upstream = await startUpstream(CASES);
  world = await makeWorld(upstream.url);
});
afterAll(async () => {
  setSettings(before);
  await upstream.stop();
});

for (const played of CASES)
  for (const account of ["own", "managed"] as const)
    for (const form of FORMS) {
      if (form.isStream ? !played.streamed : !played.whole) continue;
      if (form.name === "pinned" && account === "managed") continue; // pins run on own accounts alone
      test(`${played.name} ends as it should by ${form.name} on an account that is ${account}`, async () => {
        const seen = await form.run(world[account], played);
        await expectEnd(seen, played, { form, account, tenant: world[account] });
        expect(upstream.received(played.name).length).toBeGreaterThan(0);
      });
    }
