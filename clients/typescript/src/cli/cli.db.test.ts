import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect } from "vitest";
import { EXIT_CODES } from "@/server/contract/cli";
import { pool } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";
import { sha256Hex } from "@/server/platform/text/canonical";
import { finish } from "@/testing/api";
import {
  answer,
  type Body,
  capstan,
  closeService,
  execute,
  FAST,
  folder,
  openService,
  program,
  refused,
  server,
  tenant,
  test,
} from "./cli.fixture";

const question = JSON.stringify({ messages: [{ role: "user", content: "How deep are the rivers?" }] });

beforeAll(openService);
afterAll(closeService);

test("the catalog is listed, searched by intent and described, also without a key", {
  tags: "long",
}, async () => {
  const env = { CAPSTAN_API_KEY: "" };
  const [{ capabilities }, { matches }, described, { out }, unknown] = await Promise.all([
    answer(["capabilities", "list"], { env }),
    answer(["capabilities", "find", "draw", "a", "picture"], { env }),
    answer(["capabilities", "describe", FAST], { env }),
    capstan(["capabilities", "find", "what is 2 + 2 exactly"], { env }),
    refused(EXIT_CODES.usage, ["capabilities", "describe", "text.nothing"], { env }),
  ]);
  expect(capabilities.map(({ key }: Body) => key)).toContain(FAST);
  expect(matches[0].capabilityKey).toBe("image.generate.v1");
  expect(described.execution.mode).toBe("job");
  expect(out).toContain("capstan run compute.evaluate.v1 --input '{");
  expect(unknown.code).toBe("UNKNOWN_CAPABILITY");
});

test("the commands and client calls in a descriptor run unchanged", {
  tags: "long",
}, async () => {
  const described = await answer(["capabilities", "describe", "compute.evaluate.v1"]);
  const { cli, sdk } = described.nextAction;
  const file = join(folder, "sdk.mjs");
  await build({
    stdin: { contents: sdk.replaceAll(publicUrl, server.url), loader: "ts", resolveDir: resolve(".") },
    alias: { "@capstan/client": resolve("clients/typescript/src/index.ts") },
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const line = cli.replace(/--base-url \S+$/, `--base-url ${server.url} --json`);
  const [run, code] = await Promise.all([
    execute("sh", ["-c", `capstan() { "$NODE" "$PROGRAM" "$@"; }; ${line}`], {
      env: { NODE: process.execPath, PROGRAM: program },
    }),
    execute(process.execPath, [file], {}),
  ]);
  expect(described.descriptorProjection).toBe("describe");
  expect(run.code, run.out).toBe(0);
  const { status, output } = JSON.parse(run.out);
  expect(status).toBe("succeeded");
  expect(code).toEqual({ code: 0, out: `${inspect(output)}\n`, error: "" });
});

test("the command that resolve suggests runs unchanged, with its input inline and in a file", {
  tags: "long",
}, async () => {
  const env = { CAPSTAN_API_KEY: "" };
  const { matches } = await answer(["capabilities", "find", "what is 2 + 2 exactly"], { env });
  const { cli, inputFile } = matches[0].runHint;
  writeFileSync(join(folder, inputFile.path), JSON.stringify(inputFile.content));
  const shim = `capstan() { "$NODE" "$PROGRAM" "$@"; }`;
  const runs = [cli, inputFile.cli].map((line: string) => {
    const here = line.replace(/--base-url \S+$/, `--base-url ${server.url} --json`);
    return execute("sh", ["-c", `${shim}; ${here}`], { env: { NODE: process.execPath, PROGRAM: program } });
  });
  for (const { code, out } of await Promise.all(runs)) {
    expect(code, out).toBe(0);
    const charge = { chargedMicros: 0, state: "not_charged" };
    expect(JSON.parse(out)).toMatchObject({ status: "succeeded", capability: "compute.evaluate.v1", charge });
  }
});

test("run takes input as JSON, from a file and from standard input, and prints text for people and JSON for programs", {
  tags: "long",
}, async () => {
  writeFileSync(join(folder, "sum.json"), '{"expression": "2 + 2"}');
  const inputs = [
    ['{"expression": "2 + 2"}', ""],
    ["sum.json", ""],
    ["-", '{"expression": "2 + 2"}'],
  ] as const;
  const runs = inputs.map(async ([given, stdin]) => {
    const done = await answer(["run", "compute.evaluate.v1", "--input", given], { stdin });
    expect(JSON.stringify(done.output)).toContain("4");
    expect(done).toMatchObject({ status: "succeeded", receiptId: expect.stringMatching(/^rcpt_/) });
  });
  const refusals = [
    ["--input", "{broken"],
    ["--input", "gone.json"],
    ["--input", question, "--max-cost-usd", "0"],
    [],
  ].map(async (args) => expect((await refused(EXIT_CODES.usage, ["run", FAST, ...args])).code).toBe("Usage"));
  const [{ out, code }, invalid] = await Promise.all([
    capstan(["run", FAST, "--input", question, "--max-cost-usd", "0.5"]),
    refused(EXIT_CODES.usage, ["run", "compute.evaluate.v1", "--input", "{}"]),
    ...runs,
    ...refusals,
  ]);
  expect(code).toBe(0);
  expect(out).toMatch(/^In a few words, .*rivers/);
  expect(out).toMatch(/^you pay 0\.\d+ USD \(covered\)$/m);
  expect(invalid.status).toBe(422);
});

const draw = ["run", "image.generate.v1", "--input", '{"prompt": "A lighthouse"}'];

test("a job is submitted and followed to its end, its artifacts are saved and verified, and its receipt verifies", {
  tags: "long",
}, async () => {
  const { jobId } = await answer(draw);
  let isAsked = false;
  const onOut = () => {
    if (!isAsked) void finish(jobId);
    isAsked = true;
  };
  const { code, out } = await capstan(["jobs", "events", jobId, "--follow", "--json"], { onOut });
  expect(code).toBe(0);
  const followed = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [{ events }, job, read, result, { artifacts, files }, { items }, receipt] = await Promise.all([
    answer(["jobs", "events", jobId]),
    answer(["jobs", "get", jobId]),
    capstan(["jobs", "get", jobId]),
    answer(["jobs", "result", jobId]),
    answer(["jobs", "artifacts", jobId, "--out", "pictures"]),
    answer(["jobs", "list", "--status", "succeeded", "--capability", "image.generate.v1"]),
    capstan(["receipts", "get", jobId]),
  ]);
  expect(followed.map(({ id }) => id)).toEqual(events.map(({ id }: Body) => id));
  expect(job).toMatchObject({ jobId, status: "succeeded" });
  expect(read.out).toContain(`you pay     ${job.charge.chargedMicros / 1_000_000} USD (covered)`);
  expect(result.typedOutput).toBeTruthy();
  expect(files).toHaveLength(artifacts.length);
  expect(sha256Hex(readFileSync(join(folder, files[0].path)))).toBe(artifacts[0].sha256);
  expect(readdirSync(join(folder, "pictures")).some((name) => name.endsWith(".part"))).toBe(false);
  expect(items.find((each: Body) => each.jobId === jobId)?.charge).toEqual(job.charge);

  writeFileSync(join(folder, "receipt.json"), receipt.out);
  writeFileSync(join(folder, "changed.json"), receipt.out.replace("image.generate", "image.generated"));
  const [good, changed, gone, again] = await Promise.all([
    capstan(["verify", "receipt.json"]),
    capstan(["verify", "changed.json", "--json"]),
    capstan(["verify", "gone.json"]),
    answer(["receipts", "get", JSON.parse(receipt.out).receiptId]),
  ]);
  expect(good).toMatchObject({ code: 0, error: "" });
  expect(good.out).toContain("is what was sealed");
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.out).verified).toBe(false);
  expect(gone.code).toBe(2);
  expect(again.jobId).toBe(jobId);
});

test("a job is canceled, and one that waits for a person or longer than requested has its own exit code", {
  tags: "long",
}, async () => {
  const project = tenant.otherProjectId;
  const how = { env: { CAPSTAN_API_KEY: tenant.unboundKey } };
  const other = [...draw, "--project", project];
  const [{ jobId }, left, rejected] = await Promise.all([
    answer(other, how),
    refused(EXIT_CODES.waitTimeout, [...other, "--wait", "--timeout", "0.01"], how),
    refused(EXIT_CODES.failed, ["run", FAST, "--input", question, "--model", "sandbox-refuse"]),
  ]);
  expect(left.executionId).toMatch(/^wfr_/);
  expect(rejected.code).toBe("ProviderRejected");
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [project]);
  const [canceled, waits] = await Promise.all([
    answer(["jobs", "cancel", jobId], how),
    refused(EXIT_CODES.humanGate, [...other, "--wait"], how),
  ]);
  expect(canceled.status).toMatch(/^cancel/);
  expect(waits.details.approvalUrl).toContain(waits.executionId);
});
