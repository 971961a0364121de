import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { publicKeys } from "@/server/domain/signing";
import { lockfileBodyOf, manifestEntryOf } from "@/server/verify";
import {
  type Document,
  makeLockfile,
  makeManifest,
  makeReceipt,
  makeRecord,
  makeSigner,
  PROMPT,
} from "@/testing/evidence";
import { PROGRAMS } from "@/testing/setup/programs";
import { makeProject } from "@/testing/world";
import { runVerify } from "./command";
import { explainVerification } from "./explain";

const verify = (args: string[]) => runVerify(args, { explain: explainVerification });

const directory = mkdtempSync(join(tmpdir(), "capstan-verify-"));
const at = (name: string) => join(directory, name);
const save = (name: string, document: unknown) => {
  writeFileSync(at(name), typeof document === "string" ? document : JSON.stringify(document, null, 2));
  return at(name);
};
const textOf = (name: string) => readFileSync(at(name), "utf8");

/** Receipt that the service sealed. */
let receipt: Record<string, unknown>;
/** Documents of the four kinds, signed by a key of the test's own. */
const signer = makeSigner();
const record = makeRecord(signer);
const madeReceipt = makeReceipt(signer);
const manifest = makeManifest(signer, [manifestEntryOf(madeReceipt), manifestEntryOf(record)]);
let lockfile: Document;

beforeAll(async () => {
  const { ctx } = await makeProject();
  const { executionId } = await jobs.invoke(ctx, "compute.evaluate.v1", { expression: "2 ^ 0.5" });
  receipt = { ...(await jobs.receipt(ctx, executionId)) };
  save("receipt.json", receipt);
  save("jwks.json", await publicKeys());
  lockfile = makeLockfile(signer, await lockfileBodyOf(record));
  mkdirSync(at("made"));
  save("made/jwks.json", signer.keys);
  save("made/record.json", record);
  save("made/receipt.json", madeReceipt);
  save("made/manifest.json", manifest);
  save("made/lockfile.json", lockfile);
  save("input.txt", PROMPT.input);
  save("instructions.txt", PROMPT.instructions);
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
});

test("a receipt as the service returned it verifies with a saved key set", async () => {
  const { code, out, error } = await verify([at("receipt.json"), "--keys", at("jwks.json")]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  for (const check of ["form", "hash_matches", "key_known", "signature_valid"]) {
    expect(out).toMatch(new RegExp(`^ok +${check} `, "m"));
  }
  expect(out).toContain(`receipt ${receipt.receiptId} is what was sealed.`);
});

test("documents of the four kinds verify in one call, with the keys saved beside them", async () => {
  const files = ["receipt", "record", "manifest", "lockfile"].map((name) => at(`made/${name}.json`));
  const { code, out, error } = await verify(files);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  for (const [place, kind] of ["receipt", "pinned record", "manifest", "lockfile"].entries()) {
    expect(out).toContain(`${files[place]}:\n`);
    expect(out).toMatch(new RegExp(`^${kind} \\w+ is what was sealed\\.$`, "m"));
  }
});

describe("a changed document does not verify", () => {
  const said = async (name: string, from: string, to: string, ...more: string[]) => {
    const text = textOf(`made/${name}.json`);
    expect(text).toContain(from);
    save("made/changed.json", text.replace(from, to));
    const { code, out, error } = await verify([at("made/changed.json"), ...more]);
    expect({ code, error }).toEqual({ code: 1, error: "" });
    return out;
  };

  test("the command names the changed member of the sealed text and its former value", {
    timeout: 60_000,
  }, async () => {
    expect(await said("record", '"temperature": 0.2', '"temperature": 0.9')).toContain(
      "one byte was changed: settings.temperature is 0.9 and was 0.2 when it was hashed",
    );
    expect(await said("receipt", "succeeded", "succeedee")).toContain(
      'status is "succeedee" and was "succeeded"',
    );
    expect(await said("manifest", "first run", "first ruh")).toContain('first run”" when it was hashed');
    expect(await said("lockfile", "2026-10-01", "2026-10-02")).toContain(
      'providerModel is "gpt-5.6-sol-2026-10-02" and was "gpt-5.6-sol-2026-10-01"',
    );
  });

  test("the command names the changed member that a hash of the document binds", {
    timeout: 60_000,
  }, async () => {
    const out = await said("record", "10 935 m", "10 936 m");
    expect(out).toMatch(/^FAIL +output_matches +output was changed/m);
    expect(out).toContain('output.text is "Deep — 10 936 m." and was "Deep — 10 935 m." when it was hashed');
    expect(await said("record", "-0.25", "-0.26")).toContain(
      "nativeResponse.output[0].logprob is -0.26 and was -0.25",
    );
  });

  test("the command names a member that does not match the published form", async () => {
    const out = await said("lockfile", '"isolation"', '"isolatioo"');
    expect(out).toContain("isolation does not match the published form");
  });

  test("the command tells a changed hash, signature and key name apart", async () => {
    const hash = String(record.recordHash);
    const { value, keyId } = record.signature as { value: string; keyId: string };
    const other = (text: string) => `${text.startsWith("0") ? "1" : "0"}${text.slice(1)}`;
    expect(await said("record", hash, other(hash))).toContain("recordHash itself was changed");
    expect(await said("record", value, other(value))).toContain("the signature was changed");
    expect(await said("record", keyId, other(keyId))).toContain("signature.keyId was changed");
  });

  test("the command says where another copy differs if more than one byte was changed", {
    timeout: 60_000,
  }, async () => {
    const out = await said(
      "record",
      '"temperature": 0.2',
      '"temperature": 0.21',
      "--against",
      at("made/record.json"),
    );
    expect(out).toMatch(/^FAIL +same_as_other +settings.temperature is 0.21 here and 0.2 there$/m);
    expect(out).not.toContain("one byte");
  });

  test("the command says at which line and column a text is no longer JSON, and what the other copy has there", async () => {
    save("broken.json", textOf("made/record.json").replace('"pinnedId": ', '"pinnedId"; '));
    const { code, out, error } = await verify([at("broken.json"), "--against", at("made/record.json")]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(error).toMatch(/not JSON: .*line 4, column 13/);
    expect(error).toMatch(/difference is at line 4, column 13: "; .* here and ": .* in the other copy/);
  });
});

test("a manifest is compared with a folder of receipts, a lockfile with its record and its prompt", async () => {
  const folder = ["--receipts", at("made")];
  const whole = await verify([at("made/manifest.json"), at("made/lockfile.json"), ...folder]);
  expect(whole.out).toContain("2 receipts match the manifest");
  expect(whole.out).toContain("the lockfile matches its record");
  const prompt = ["--input", at("input.txt"), "--instructions", at("instructions.txt")];
  expect((await verify([at("made/lockfile.json"), ...prompt])).code).toBe(0);
  expect((await verify([at("made/lockfile.json"), "--input", at("input.txt")])).out).toContain(
    "promptHash is",
  );
  mkdirSync(at("few"));
  save("few/record.json", record);
  const missing = await verify([at("made/manifest.json"), "--receipts", at("few")]);
  expect(missing).toMatchObject({ code: 1, out: expect.stringContaining("is not among the given receipts") });
});

test("a running service gives its keys to anyone, and its own copy to a caller with a key", async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ""}`);
    const isKeys = request.url === "/.well-known/jwks.json";
    response.end(JSON.stringify(isKeys ? signer.keys : { ...record, projectId: "cpr_other" }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server that listens has a port
  try {
    expect((await verify([at("made/record.json"), "--url", url])).code).toBe(0);
    expect((await verify([at("made/record.json"), "--keys", `${url}/.well-known/jwks.json`])).code).toBe(0);
    expect(asked).toEqual(["/.well-known/jwks.json ", "/.well-known/jwks.json "]);
    vi.stubEnv("CAPSTAN_API_KEY", "cap_test");
    const { code, out } = await verify([at("made/record.json"), "--url", url]);
    expect(asked).toContain(`/v1/inference/pinned/${record.receiptId} Bearer cap_test`);
    expect(code).toBe(1);
    expect(out).toContain('projectId is "cpr_1" here and "cpr_other" there');
    expect(out).not.toContain("cap_test");
  } finally {
    vi.unstubAllEnvs();
    server.close();
  }
});

test("an unreadable document or a wrong argument ends the command with code 2 and an error, even if another document verifies", async () => {
  const keys = ["--keys", at("jwks.json")];
  writeFileSync(
    at("bytes.json"),
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
  );
  for (const args of [
    [],
    [at("missing.json"), ...keys],
    [at("bytes.json"), ...keys],
    [save("long.json", `${JSON.stringify(receipt)} and more`), ...keys],
    [at("receipt.json"), "--keys", at("receipt.json")],
    [at("receipt.json"), "--keys", "http://127.0.0.1:1/"],
    [at("receipt.json"), "--url", "nowhere"],
    [at("receipt.json"), ...keys, "--against", at("missing.json")],
    [at("receipt.json"), ...keys, "--receipts", at("missing")],
    [at("receipt.json"), at("receipt.json"), ...keys, "--against", at("receipt.json")],
    [at("receipt.json"), ...keys, "--instructions", at("input.txt")],
    [at("receipt.json"), "--unknown"],
  ]) {
    const { code, out, error } = await verify(args);
    expect({ args, code, out }).toEqual({ args, code: 2, out: "" });
    expect(error).toMatch(/\S/);
  }
  const both = await verify([at("receipt.json"), at("missing.json"), ...keys]);
  expect(both).toMatchObject({ code: 2, out: expect.stringContaining("is what was sealed") });
});

test("a member that occurs twice is named, and the document does not verify", async () => {
  save("twice.json", JSON.stringify(receipt).replace("{", '{"status":"succeeded",'));
  const { code, out } = await verify([at("twice.json"), "--keys", at("jwks.json"), "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    verified: false,
    checks: expect.arrayContaining([
      { name: "form", ok: false, detail: expect.stringMatching(/^status occurs twice/) },
      expect.objectContaining({ name: "hash_matches", ok: true }),
    ]),
  });
});

test("the JavaScript code in the documentation accepts a receipt and rejects a changed one, without any code of Capstan", () => {
  const page = readFileSync("docs/guides/verify-a-receipt.md", "utf8");
  const [, lines] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  expect(lines).toBeDefined();
  writeFileSync(at("by-hand.mjs"), lines ?? "");
  const run = () => spawnSync(process.execPath, ["by-hand.mjs"], { cwd: directory, encoding: "utf8" });
  expect(run()).toMatchObject({ status: 0, stdout: "true\n" });
  const whole = readFileSync(at("receipt.json"), "utf8");
  writeFileSync(at("receipt.json"), whole.replace('"succeeded"', '"failed"'));
  expect(run()).toMatchObject({ status: 0, stdout: "false\n" });
  writeFileSync(at("receipt.json"), whole);
});

const hasTools = ["python3", "openssl"].every((tool) => spawnSync(tool, ["--help"]).error === undefined);

test.skipIf(!hasTools)(
  "the Python code in the documentation verifies all four kinds of document and rejects changed ones",
  () => {
    const [, lines] =
      /```python\n([\s\S]*?)```/.exec(readFileSync("docs/reference/evidence.md", "utf8")) ?? [];
    save("made/by_hand.py", lines ?? "");
    const run = (name: string) =>
      spawnSync("python3", ["by_hand.py", `${name}.json`], { cwd: at("made"), encoding: "utf8" });
    for (const name of ["receipt", "record", "manifest", "lockfile"]) {
      expect(run(name), name).toMatchObject({ status: 0, stdout: "True\nTrue\n" });
      save("made/wrong.json", textOf(`made/${name}.json`).replace("v1:", "v1:0"));
      expect(run("wrong"), name).toMatchObject({ status: 0, stdout: "False\nFalse\n" });
    }
  },
  60_000,
);

test("the command runs in an empty folder, without an environment and without a network", {
  tags: "long",
  timeout: 120_000,
}, () => {
  const empty = at("empty");
  mkdirSync(empty);
  save("empty/record.json", record);
  save("empty/jwks.json", signer.keys);
  save(
    "no-network.mjs",
    `
    import net from "node:net";
    import dns from "node:dns";
    const connect = net.Socket.prototype.connect;
    net.Socket.prototype.connect = function (...args) {
      const [to] = Array.isArray(args[0]) ? args[0] : args;
      if (to?.path === undefined) { console.error("a connection was tried"); process.exit(99); }
      return connect.apply(this, args);
    };
    dns.lookup = () => { console.error("a name was looked up"); process.exit(99); };`,
  );
  const environment: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    NODE_OPTIONS: `--import ${at("no-network.mjs")}`,
  };
  const run = (...files: string[]) =>
    spawnSync(process.execPath, [resolve(PROGRAMS, "verify.mjs"), ...files], {
      cwd: empty,
      env: environment as NodeJS.ProcessEnv, // only these variables
      encoding: "utf8",
    });
  expect(run("record.json")).toMatchObject({
    status: 0,
    stderr: "",
    stdout: expect.stringContaining(`pinned record ${record.receiptId} is what was sealed.`),
  });
  save("empty/record.json", { ...record, status: "failed" });
  expect(run("record.json")).toMatchObject({
    status: 1,
    stdout: expect.stringContaining("NOT what was sealed"),
  });
  expect(run("missing.json").status).toBe(2);
  expect(run("record.json", "--keys", "http://127.0.0.1:4567/").status).toBe(99);
});
