import { afterAll, beforeAll, expect, test, vi } from "vitest";

// The provider reads this setting when it loads.
await vi.hoisted(async () => {
  const { COMPATIBLE_MODELS } = await import("./cases");
  process.env.OPENAI_COMPATIBLE_MODELS = COMPATIBLE_MODELS;
});

import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { campaign } from "@/testing/campaign";
import { setSettings } from "@/testing/settings";
import { CASES, MADE } from "./cases";
import { expectEnd, expectMade, expectSent, makeWorld, type World } from "./ends";
import { FORMS, type Form } from "./forms";
import type { MadeCase } from "./made";
import { MADE_FORMS } from "./made-forms";
import { startUpstream, type Upstream } from "./server";
import type { UpstreamCase } from "./upstream";

/* Every case of the corpus: the server's response, and the outcome for the caller, the ledger and the receipt. */

const before = { ...env };
let upstream: Upstream;
let world: World;
beforeAll(async () => {
  upstream = await startUpstream(CASES, MADE);
  world = await makeWorld(upstream.url);
});
afterAll(async () => {
  setSettings(before);
  await upstream.stop();
});

const ACCOUNTS = ["own", "managed"] as const;
type Run = { account: (typeof ACCOUNTS)[number]; form: Form };

/** The capability with object outputs does not stream. */
const isRefusedAtOnce = (form: Form, { request }: UpstreamCase) =>
  form.isStream && form.isEnvelope && request?.response_format !== undefined;

/** Every form in which a case can be played, on the caller's own account and on the operator's. */
const runsOf = (played: UpstreamCase): Run[] =>
  FORMS.filter(
    (form) => (form.isStream ? played.streamed : played.whole) && !isRefusedAtOnce(form, played),
  ).flatMap((form) =>
    // Pins run only on own accounts.
    ACCOUNTS.filter((account) => account === "own" || form.name !== "pinned").map((account) => ({
      account,
      form,
    })),
  );
const madeRunsOf = ({ maker }: MadeCase) =>
  MADE_FORMS.filter(({ serves }) => serves.includes(maker)).flatMap((form) =>
    ACCOUNTS.map((account) => ({ account, form })),
  );

/** A number derived from a name, so that each case is always played in the same form. */
const drawnBy = (name: string) =>
  [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_973, 7);

for (const played of CASES)
  for (const { account, form } of campaign.inTurn(runsOf(played), drawnBy(played.name)))
    test(`${played.name} ends as expected by ${form.name} on an account that is ${account}`, async () => {
      const seen = await form.run(world[account], played);
      await expectEnd(seen, played, { form, account, tenant: world[account] });
      expect(upstream.received(played.name).length).toBeGreaterThan(0);
      expectSent(upstream.received(played.name).at(-1), played, { form, account });
    });

test("the usage export marks estimated costs of jobs and of pinned executions", async () => {
  const runs: [name: string, form: string, basis: string][] = [
    ["plain", "invoke", "reported"],
    ["no-usage", "invoke", "estimated"],
    ["no-usage", "pinned", "estimated"],
    ["redirect", "invoke", "reported"],
  ];
  const wanted = new Map<string, string>();
  for (const [name, how, basis] of runs) {
    const played = CASES.find((each) => each.name === name)!; // the case is listed
    const { executionId } = await FORMS.find((form) => form.name === how)!.run(world.own, played); // the form is listed
    wanted.set(executionId, basis);
  }
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const days = `from=${day(Date.now() - DAY_MS)}&to=${day(Date.now() + DAY_MS)}`;
  const { text } = await world.own.get(`/v1/billing/usage-export?projectId=${world.own.projectId}&${days}`);
  const [head = "", ...lines] = text.trim().split(/\r?\n/);
  expect(head.endsWith(",x_ProviderCostBasis")).toBe(true);
  for (const [executionId, basis] of wanted) {
    const line = lines.find((each) => each.includes(executionId));
    expect(line?.split(",").at(-1)).toBe(basis);
  }
});

for (const played of MADE)
  for (const { account, form } of campaign.inTurn(madeRunsOf(played), drawnBy(played.name)))
    test(`${played.name} ends as expected by ${form.name} on an account that is ${account}`, async () => {
      upstream.made.begin(played.name);
      const seen = await form.run(world[account], played);
      await expectMade(seen, played, { account, tenant: world[account] });
      expect(upstream.made.count(played.name, "submit")).toBeGreaterThan(0);
    });
