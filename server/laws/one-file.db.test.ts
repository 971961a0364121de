/** @module-tag long */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeRegistries } from "@/scripts/generate/registry";
import { startVendor, type Vendor } from "../providers/testing/vendor";

/*
 * The law that a capability is one file and a provider is one file: an unknown pair is put into a copy of the source, the
 * registries are generated, and the product has both. Nothing else of the copy is changed.
 */

const ROOT = resolve(import.meta.dirname, "../..");

const CAPABILITY = `
import { z } from "zod";
import { defineCapability } from "./define";

export default defineCapability({
  key: "text.riddle.v1",
  title: "Riddles",
  description: "Answers a riddle in one word.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "job_async"],
  input: z.strictObject({ riddle: z.string().min(1).max(500) }),
  output: z.strictObject({ answer: z.string() }),
  inputConstraints: { riddle: { measurement: "characters", max: 500, overflow: "reject", semantic: true } },
  features: { providerBacked: true },
  inputMediaTypes: ["text/plain"],
  outputKind: "structured",
  outputMediaType: "application/json",
  intentExamples: ["Solve this riddle for me"],
  synonyms: ["riddle", "puzzle"],
  taskTags: ["riddles"],
  trialEligible: true,
  readySummary: "Riddles are answered at once.",
  sync: { maxOutputTokens: 20, seconds: 30 },
  examples: [{ title: "A riddle", input: { riddle: "What has keys but opens no lock?" } }],
  execute: {
    port: "text",
    call: (input) => ({
      messages: [{ role: "user", content: input.riddle }],
      maxOutputTokens: 20,
      responseFormat: { type: "text" },
    }),
    result: ({ text }) => ({ typedOutput: { answer: text }, files: [] }),
    bounds: () => ({ outputTokens: 20 }),
  },
});
`;

const PROVIDER = `
import { z } from "zod";
import { defineProvider } from "./provider";
import { getJson, parseReply, postJson } from "./http";
import { placeSampling } from "./pin-call";

const Reply = z.object({ words: z.string(), read: z.int(), written: z.int() });
const headers = (account) => ({ "sphinx-key": account.credentials.apiKey?.reveal() ?? "" });

export default defineProvider({
  name: "sphinx",
  title: "Sphinx",
  maturity: "PG",
  credentials: z.object({ apiKey: z.string().min(1) }),
  environment: { credentials: { apiKey: "SPHINX_API_KEY" }, baseUrl: "SPHINX_BASE_URL" },
  defaultBaseUrl: null,
  models: [
    {
      id: "sphinx-1",
      port: "text",
      title: "Sphinx 1",
      price: { per: "million_tokens", input: 1_000_000, output: 2_000_000 },
      supports: {},
    },
  ],
  check: async (account) => void (await getJson(account, "/whoami", { headers: headers(account) })),
  text: {
    api: "riddles",
    async submit(call, io) {
      const reply = await postJson(io, "/riddles", { body: { ask: call.messages }, headers: headers(io) });
      const { words, read, written } = parseReply(Reply, reply, io);
      return {
        state: "done",
        result: { text: words, finishReason: "stop", toolCalls: [] },
        usage: { inputTokens: read, outputTokens: written },
        providerRequestId: null,
        providerModel: "sphinx-1",
        httpStatus: reply.status,
      };
    },
  },
  pins: {
    riddles: {
      path: () => "/riddles",
      content: ["ask"],
      canDefer: false,
      headers,
      body: (call) => ({ ask: call.input, ...placeSampling(call, { maxOutputTokens: "words" }) }),
      read(reply, io) {
        const { words, read, written } = parseReply(Reply, reply, io);
        return {
          text: words,
          finishReason: "stop",
          toolCalls: [],
          usage: { inputTokens: read, outputTokens: written },
          providerRequestId: "riddle-1",
          providerModel: "sphinx-1",
          providerFingerprint: null,
        };
      },
    },
  },
});
`;

/**
 * A program that imports neither file and prints what the catalog finds, the targets, a run with its cost,
 * and a pinned run.
 */
const LOOK = `
import { pool } from "@/server/platform/db";
import * as catalog from "@/server/domain/catalog";
import * as credentials from "@/server/domain/connections";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { system } from "@/testing/tenants";
import { makeProject } from "@/testing/world";

const capability = catalog.getCapability("text.riddle.v1");
const { ctx, organizationId, projectId } = await makeProject();
const ran = await jobs.invoke(ctx, "text.riddle.v1", {
  input: { riddle: "What has keys but opens no lock?" },
  providerPin: "sphinx",
});
const attempts = await pool.query("SELECT cost_micros FROM attempt WHERE job_id = $1", [ran.executionId]);
const account = { provider: "sphinx", secret: "riddle-of-their-own-0123", label: "default" };
const place = { projectId, environment: "development", replaces: true, provider: "sphinx" };
await credentials.createCredential(system, organizationId, account, { places: [place] });
const pinned = await pins.run(ctx, {
  pin: { provider: "sphinx", model: "sphinx-1", api: "riddles" },
  input: "What has a neck and no head?",
  sampling: { maxOutputTokens: 5 },
});
console.log(
  JSON.stringify({
    pinned,
    listed: catalog.list({}, false).capabilities.map(({ key }) => key),
    found: catalog.list({ q: "riddle" }, false).capabilities.map(({ key }) => key),
    targets: catalog.targetsOfPort(capability).map(catalog.routeKey),
    ran,
    costs: attempts.rows.map((row) => Number(row.cost_micros)),
  }),
);
process.exit(0);
`;

let copy: string;
let vendor: Vendor;
beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), "capstan-one-file-"));
  vendor = await startVendor();
  const isWanted = (path: string) => !/\.test\.tsx?$|\.fixtures$/.test(basename(path));
  for (const folder of ["server", "testing", "inngest", "prisma", "scripts"])
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true, filter: isWanted });
  for (const file of ["package.json", "tsconfig.json"]) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
});
afterAll(async () => {
  await vendor.stop();
  rmSync(copy, { recursive: true, force: true });
});

test("a capability and a provider that are one file each are listed, matched, run and pinned", async () => {
  writeFileSync(join(copy, "server/capabilities/text.riddle.v1.ts"), CAPABILITY);
  writeFileSync(join(copy, "server/providers/sphinx.ts"), PROVIDER);
  writeFileSync(join(copy, "look.ts"), LOOK);
  expect(writeRegistries(copy)).toEqual([
    "server/capabilities/registry.gen.ts",
    "server/providers/registry.gen.ts",
  ]);
  expect(readFileSync(join(copy, "server/platform/settings/env.ts"), "utf8")).not.toMatch(/sphinx/i);

  vendor.answer({ json: { words: "A piano", read: 9, written: 2 } });
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "look.ts"], {
    cwd: copy,
    env: {
      ...process.env,
      SPHINX_API_KEY: "riddle-me-this-0123456789",
      SPHINX_BASE_URL: vendor.url,
      ALLOW_PRIVATE_ADDRESSES: "1",
    },
  });
  const seen = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  expect(seen.listed).toContain("text.riddle.v1");
  expect(seen.found[0]).toBe("text.riddle.v1");
  expect(seen.targets).toContain("sphinx/sphinx-1");
  expect(seen.ran).toMatchObject({
    resolvedProvider: "sphinx",
    resolvedModel: "sphinx-1",
    typedOutput: { answer: "A piano" },
    usage: { inputTokens: 9, outputTokens: 2 },
  });
  expect(seen.costs).toEqual([9 + 2 * 2]);
  expect(seen.pinned).toMatchObject({
    status: "succeeded",
    output: { text: "A piano", finishReason: "stop" },
    receipt: { settings: { words: 5 }, providerRequestId: "riddle-1", providerSubmissions: 1 },
  });
  expect(vendor.arrived).toMatchObject([
    { method: "POST", path: "/riddles", headers: { "sphinx-key": "riddle-me-this-0123456789" } },
    { method: "GET", path: "/whoami" },
    {
      method: "POST",
      path: "/riddles",
      headers: { "sphinx-key": "riddle-of-their-own-0123" },
      body: '{"ask":"What has a neck and no head?","words":5}',
    },
  ]);
  expect(stdout).not.toMatch(/riddle-me-this|riddle-of-their-own/);
});
