/** @module-tag long */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { MOST_FORM_BYTES } from "@/server/api/openai/form";
import * as credentials from "@/server/domain/connections";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { type Call, call, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { Form, whiteSquare } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { vendorAsOpenAi } from "@/testing/vault";
import { workFor } from "@/testing/work";
import { copyJob } from "@/testing/world";
import { ask, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { openTenant, say, settings, TEXT, tenant } from "./tenant.fixture";

/*
 * Embeddings, images and speech as OpenAI's clients request them. Images and speech are jobs, which a worker of this file
 * runs.
 */

let stopWork: () => Promise<void>;
/** A tenant with an OpenAI account, whose organization has switched off calls to providers. */
let shut: Tenant;
let closeVendor: () => Promise<void>;
beforeAll(async () => {
  await openTenant();
  stopWork = workFor(tenant.projectId);
  ({ close: closeVendor } = await vendorAsOpenAi());
  shut = await makeTenant();
  await credentials.createCredential(
    system,
    shut.organizationId,
    { provider: "openai", secret: "sk-1", label: "own" },
    { places: [{ projectId: shut.projectId, environment: "development" }] },
  );
  await pool.query(
    `UPDATE organization SET settings = settings || '{"externalActions": false}' WHERE id = $1`,
    [shut.organizationId],
  );
}, 60_000);
afterAll(async () => {
  await stopWork();
  await closeVendor();
});

type Door = {
  target: string;
  /** A body that succeeds, with these fields replaced. */
  body(more?: Record<string, string>): unknown;
  words: string;
  most: number;
  unconnected: string;
  /** Fields that no model supports. */
  unroutable: Record<string, string>;
  /** Runs synchronously, without a job. */
  isSync?: true;
};
const json = (plain: object) => (more?: Record<string, string>) => ({ ...plain, ...more });

const DOORS: Door[] = [
  {
    target: "/v1/embeddings",
    body: (more) => {
      const { dimensions, ...text } = more ?? {};
      return {
        model: "text.embed.v1",
        input: "A kite",
        ...text,
        ...(dimensions ? { dimensions: Number(dimensions) } : {}),
      };
    },
    words: "input",
    most: 100_000,
    unconnected: "openai/text-embedding-3-small",
    unroutable: { dimensions: "9000" },
    isSync: true,
  },
  {
    target: "/v1/images/generations",
    body: json({ prompt: "A kite" }),
    words: "prompt",
    most: 32_000,
    unconnected: "openai/gpt-image-1",
    unroutable: { model: "openai/gpt-image-1", size: "2048x1024" },
  },
  {
    target: "/v1/images/edits",
    body: (more) =>
      new Form([
        ...Object.entries({ prompt: "A kite", ...more }),
        ["image", { filename: "a.png", bytes: whiteSquare() }],
      ]),
    words: "prompt",
    most: 32_000,
    unconnected: "openai/gpt-image-1",
    unroutable: { model: "openai/gpt-image-1", size: "2048x1024" },
  },
  {
    target: "/v1/audio/speech",
    body: json({ model: "audio.voice.generate.v1", voice: "alloy", input: "Hello." }),
    words: "input",
    most: 40_000,
    unconnected: "openai/tts-1",
    unroutable: { model: "openai/tts-1", voice: "unknown" },
  },
];

const doorAt = (path: string) => DOORS.find(({ target }) => target === path)!;

/** A request that succeeds, for each endpoint. */
const sample = ({ method, path }: Endpoint): Request => ({ method, target: path, body: doorAt(path).body() });

everyEndpoint("media", { sample });

describe.each(DOORS)(
  "errors of POST $target",
  ({ target, body, words, most, unconnected, unroutable, isSync }) => {
    const post = (code: ErrorCode | 200, more: Record<string, string> = {}, options: Call = {}) =>
      ask(code === 200 ? 200 : [ERRORS[code].status, code], "POST", target, {
        key: tenant.key,
        body: body(more),
        ...options,
      });
    const named = (behaviour: string) => ({ model: `sandbox/sandbox-${behaviour}` });

    const { SANDBOX_URL, JOB_WAIT_SECONDS } = env;
    afterEach(() => {
      setSettings({ SANDBOX_URL, JOB_WAIT_SECONDS });
    });

    test("a request that cannot be planned is refused", async () => {
      const unknown = await post("UNKNOWN_CAPABILITY", { model: "nothing-3" });
      expect(unknown.json.error).toMatchObject({
        param: "model",
        details: { connectUrl: expect.stringContaining(`/projects/${tenant.projectId}/connections`) },
      });
      expect((await post("PromptTooLong", { [words]: "x".repeat(most + 1) })).json.error.param).toBe(words);
      expect((await post("CONNECTION_REQUIRED", { model: unconnected })).json.error.details).toMatchObject({
        provider: "openai",
      });
      await post("ROUTE_UNAVAILABLE", unroutable);
      await post("PROJECT_REQUIRED", {}, { key: tenant.unboundKey });
      await ask([422, "list"], "POST", target, { key: tenant.key, body: body({ [words]: "" }) });
    });

    test("a request without funds, over a budget, with provider calls switched off or above the allowed maturity is refused", async () => {
      const poor = await makeTenant({ walletMicros: 0 });
      await post("funding_required", {}, { key: poor.key });
      const held = await makeTenant();
      await call("PUT", `/v1/projects/${held.projectId}/budget-policy`, {
        headers: await sessionHeaders(held.organizationId, "owner"),
        body: { budgets: [{ period: "total", ceilingUsd: 0, enforcement: "prevent" }] },
      });
      await post("BudgetExceeded", {}, { key: held.key });
      await post("EXTERNAL_ACTIONS_DISABLED", { model: unconnected }, { key: shut.key });
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const { maturity } = sandbox;
      sandbox.maturity = "PG";
      await settings(tenant.projectId, { maturityRating: "R" });
      try {
        await post("PolicyRejected");
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test("two different requests under one key are a conflict, and a replay whose content was removed is refused", async () => {
      const own = await makeTenant();
      const stop = workFor(own.projectId);
      const options = { key: own.key, headers: { "idempotency-key": "kept" } };
      const first = await post(200, {}, options);
      const again = await post(200, {}, options);
      expect(again.headers["x-execution-id"]).toBe(first.headers["x-execution-id"]);
      await post("IdempotencyConflict", { [words]: "Another." }, options);
      const later = systemCtx("test", () => new Date(Date.now() + 31 * DAY_MS));
      await jobs.prune(later, { projectId: own.projectId });
      await post(isSync ? "PayloadUnavailable" : "Gone", {}, options);
      await stop();
    });

    test.each([
      ["ProviderRejected", "refuse"],
      ["PROVIDER_EMPTY_OUTPUT", "empty"],
      ["PROVIDER_ERROR", "fail"],
      ["TRANSPORT_AMBIGUOUS", "lost"],
    ] as const)("an error %s names its execution, whose receipt is readable", async (code, behaviour) => {
      const refused = await post(code, named(behaviour));
      const { executionId, receiptId } = refused.json.error.details;
      expect(refused.headers["x-execution-id"]).toBe(executionId);
      const receipt = await call("GET", `/v1/jobs/${executionId}/receipt`, { key: tenant.key });
      expect(receipt.json).toMatchObject({ receiptId });
    });

    test("a job that is canceled during the wait is 409", async () => {
      const { key } = await makeTenant(); // no worker runs its jobs
      const waiting = post("Cancelled", isSync ? named("slow") : {}, { key });
      const jobId = await theirJob(key);
      await call("POST", `/v1/jobs/${jobId}/cancel`, { key });
      expect((await waiting).json.error.details).toMatchObject({ executionId: jobId });
    });

    test("a provider that cannot be reached is 503", async () => {
      const own = await makeTenant();
      setSettings({ SANDBOX_URL: "http://127.0.0.1:1" });
      const stop = workFor(own.projectId);
      const { headers } = await post("ProviderUnavailable", {}, { key: own.key });
      await stop();
      expect(headers["x-should-retry"]).toBe("true"); // nothing was sent
    });

    if (isSync) return;

    test("a job that has not ended in time is 504, and the error names the job", async () => {
      const { key } = await makeTenant();
      setSettings({ JOB_WAIT_SECONDS: 1 });
      const { json, headers } = await post("JobStillRunning", {}, { key });
      expect(json.error.message).toContain(`GET /v1/jobs/${json.error.details.executionId}`);
      expect(headers["x-should-retry"]).toBe("true"); // a repeat waits for the same job
      setSettings({ REPEAT_GUARD_SECONDS: 0 });
      const alone = await post("JobStillRunning", {}, { key });
      setSettings({ REPEAT_GUARD_SECONDS: 120 });
      expect(alone.headers["x-should-retry"]).toBe("false"); // a repeat would start another job
    });

    test("a project over its limit of unfinished jobs is refused", async () => {
      const full = await makeTenant();
      const earlier = systemCtx("test", () => new Date(Date.now() - 5_000));
      const first = await jobs.submit(earlier, TEXT, {
        ...say("First."),
        context: { projectId: full.projectId },
      });
      await copyJob(first.jobId, 10_000, { dispatch_state: "'none'" });
      await post("DURABLE_CONCURRENCY_LIMIT", {}, { key: full.key });
      await forget(full, first.jobId);
    });
  },
);

const forget = (full: Tenant, but: string) =>
  pool.query(
    "UPDATE job SET status = 'canceled', completed_at = now() WHERE project_id = $1 AND id <> $2 AND completed_at IS NULL",
    [full.projectId, but],
  );

/** The id of a key's only job, once the job exists. */
const theirJob = (key: string) =>
  vi.waitFor(
    async () => {
      const { json } = await call("GET", "/v1/jobs", { key });
      expect(json.items).toHaveLength(1);
      return json.items[0].jobId as string;
    },
    { timeout: 10_000, interval: 20 },
  );

test("an image edit is 413 if the form is too large, 415 without a form, and 422 without an image", async () => {
  const target = "/v1/images/edits";
  const huge = {
    "content-length": String(MOST_FORM_BYTES + 1),
    "content-type": "multipart/form-data; boundary=x",
  };
  await ask([413, "PayloadTooLarge"], "POST", target, { key: tenant.key, body: "x", headers: huge });
  await ask([415, "UnsupportedMediaType"], "POST", target, { key: tenant.key, body: {} });
  await ask([422, "list"], "POST", target, { key: tenant.key, body: new Form([["prompt", "A kite"]]) });
});

everyStatusHasACase("media");
