import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// The provider reads this setting when it loads.
await vi.hoisted(async () => {
  const { CASES } = await import("./cases");
  const compatible = CASES.filter(({ dialect }) => dialect === "chat");
  process.env.OPENAI_COMPATIBLE_MODELS = compatible.map(({ name }) => `${name}:1:2`).join(",");
});

import { OUTCOMES } from "@/server/domain/executions/outcomes";
import { env } from "@/server/platform/settings/env";
import { campaign } from "@/testing/campaign";
import { setSettings } from "@/testing/settings";
import { CASES } from "./cases";
import { makeWorld, rowOf, unbalanced, type World } from "./ends";
import { FORMS } from "./forms";
import { hasAnEnd, mutated, mutations } from "./mutate";
import { startUpstream, type Upstream } from "./server";

/* Corrupted answers of the corpus: every execution ends with a known code, and the ledger stays correct. */

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

/** The codes of `OUTCOMES`, and those of a capability for an answer that it cannot use. */
const CODES: (string | null)[] = [
  ...Object.values(OUTCOMES).map(({ code }) => code),
  ...[
    "PROVIDER_EMPTY_OUTPUT",
    "OutputLimitReached",
    "StructuredOutputInvalid",
    "ContentFiltered",
    "OutputRefused",
  ],
];

const round = fc.record({
  played: fc.constantFrom(...CASES),
  form: fc.constantFrom(...FORMS.filter(({ name }) => name !== "job")),
  isOwn: fc.boolean(),
  changes: mutations,
});

test("a corrupted answer ends with a known code, is charged at most its hold, and succeeds only with an end", async () => {
  await fc.assert(
    fc.asyncProperty(round, async ({ played, form, isOwn, changes }) => {
      const original = form.isStream ? played.streamed : played.whole;
      if (!original) return;
      const account = isOwn || form.name === "pinned" ? "own" : "managed";
      const answer = mutated(original, changes);
      upstream.answerNext(answer);
      const seen = await form.run(world[account], played);
      const { executionId } = seen;
      const row = await rowOf(executionId);
      expect(CODES).toContain(row.code);
      expect(row.code).toBe(seen.code);
      expect(row.state).toMatch(/^(settled|released|ambiguous)$/);
      if (account === "managed") expect(row.settled_micros ?? 0).toBeLessThanOrEqual(row.amount_micros);
      if (row.status === "succeeded") expect(hasAnEnd(played, answer)).toBe(true);
      expect(await unbalanced(executionId)).toEqual([]);
    }),
    campaign.runs({ small: 60, full: 2_000 }),
  );
}, 600_000);
