import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { UNSEALED } from "@/server/contract/pinned-records";
import { sha256Hex } from "@/server/platform/text/canonical";
import {
  differencesOf,
  FORMS,
  lockfileBodyOf,
  readJson,
  sealedText,
  verifyDocument,
  verifyText,
} from "@/server/verify";
import { type Document, makeLockfile, makeRecord, PROMPT } from "@/testing/evidence";
import { beforeOneChange } from "./find-change";
import { failed, lockfile, manifest, receipt, record, sealDocuments, signer } from "./verify.fixture";

beforeAll(sealDocuments);

test("a change outside a record's seal fails the check of the changed member", async () => {
  const output = record.output as Document;
  expect(await failed({ ...record, output: { ...output, text: "Shallow." } })).toEqual(["output_matches"]);
  expect(await failed({ ...record, nativeResponse: null, output: [] })).toEqual(["output_matches"]);
  expect(await failed({ ...record, nativeResponse: {} })).toEqual(["native_response_matches"]);
  expect(await failed({ ...record, receipt_id: "rcpt_2" })).toEqual(["form"]);
  const [correction] = record.corrections as Document[];
  expect(await failed({ ...record, corrections: [{ ...correction, kind: "late_answer" }] })).toEqual([
    "corrections_signed",
  ]);
  // Signed, but for another record.
  const stray: Document = { ...correction, receiptId: "rcpt_2" };
  delete stray.signature;
  const moved = { ...stray, signature: signer.signatureOf(stray) };
  expect(await failed({ ...record, corrections: [moved] })).toEqual(["corrections_signed"]);
});

test("a record without its output, native response and corrections is valid, and the missing output is reported", async () => {
  const pruned: Document = { ...record, output: null, corrections: [] };
  delete pruned.nativeResponse;
  const { verified, checks } = await verifyDocument(pruned, signer.keys);
  expect(verified).toBe(true);
  expect(checks.find(({ name }) => name === "output_matches")?.detail).toBe(
    "this copy has no output; outputHash remains valid",
  );
});

test("repeated members, text after the end, and invalid JSON are reported", async () => {
  const text = JSON.stringify(record);
  const detail = async (changed: string) => {
    const { verified, checks } = await verifyText(changed, signer.keys);
    expect(verified).toBe(false);
    return checks.find(({ ok }) => !ok)?.detail;
  };
  expect(await detail(text.replace("{", '{"status":"failed",'))).toMatch(/^status occurs twice/);
  expect(await detail(text.replace('"settings":{', '"settings":{"st\\u006fre":true,'))).toMatch(
    /^settings.store occurs twice/,
  );
  expect(await detail(`${text}x`)).toMatch(/^The text is followed by other text at line 1, column \d+.$/);
  expect(await detail(`${text}{}`)).toContain("followed by other text");
  expect(await detail(text.slice(0, -1))).toMatch(/^The text is not JSON/);
  expect(await detail(text.replace('"status"', "'status'"))).toMatch(/line 1, column \d+/);
  for (const value of ["null", "[]", "1", '"text"'])
    expect(await detail(value)).toContain("not a JSON object");
  expect(await detail(JSON.stringify({ receipt: record }))).toContain("its member `receipt`");
  expect(await detail('{"schemaVersion":"service.other.v1"}')).toContain("service.lockfile.v1");
  expect(await detail('{"schemaVersion":"constructor"}')).toContain("service.lockfile.v1");
  expect(await detail(text.replace('"stateless"', '"\\ud800"'))).toContain("no canonical form");
  expect(
    await detail(`{"schemaVersion":"service.receipt.v1","a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
  ).toContain("no canonical form");
});

test("a manifest is compared with its receipts, and each receipt is verified", async () => {
  const said = async (receipts: unknown[]) => {
    const { verified, checks } = await verifyDocument(manifest, signer.keys, { receipts });
    return { verified, detail: checks.find(({ name }) => name === "receipts_match")?.detail };
  };
  expect(await said([record, receipt, manifest, "noise"])).toEqual({
    verified: true,
    detail: "2 receipts match the manifest",
  });
  expect(await said([record])).toMatchObject({
    verified: false,
    detail: `${receipt.receiptId} is not among the given receipts`,
  });
  // Sealed again with the same key: valid on its own, but not the record that the manifest lists.
  const again = makeRecord(signer, { requestHash: "v1:other" });
  const { verified, detail } = await said([again, receipt]);
  expect(verified).toBe(false);
  expect(detail).toContain(
    `requestHash is ${JSON.stringify(record.requestHash)} in the manifest and "v1:other"`,
  );
  expect(detail).toContain("receiptHash is");
  expect((await said([{ ...record, status: "failed" }, receipt])).detail).toContain("does not verify");
});

test("request digests are compared without their prefixes", async () => {
  const bare = "0".repeat(64);
  for (const written of [`v1:${bare}`, `sha256:${bare}`, bare])
    expect(differencesOf({ requestHash: written }, { requestHash: bare })).toEqual([]);
  expect(differencesOf({ requestHash: `v1:${bare}` }, { requestHash: "1".repeat(64) })).toHaveLength(1);
  expect(differencesOf({ outputHash: `v1:${bare}` }, { outputHash: bare })).toHaveLength(1);
});

test("a lockfile is compared with its record", async () => {
  const said = async (document: Document, receipts: unknown[]) => {
    const { verified, checks } = await verifyDocument(document, signer.keys, { receipts });
    return { verified, detail: checks.find(({ name }) => name === "receipts_match")?.detail };
  };
  expect(await said(lockfile, [record])).toEqual({
    verified: true,
    detail: "the lockfile matches its record",
  });
  expect((await said(lockfile, [receipt])).detail).toContain("not among the given receipts");
  const settings = { store: false, temperature: 0.9 };
  const other = makeLockfile(signer, { ...(await lockfileBodyOf(record)), settings });
  expect(await said(other, [record])).toEqual({
    verified: false,
    detail: "settings.temperature is 0.9 here and 0.2 there",
  });
});

test("a prompt is compared with the hashes of a record and of a lockfile", async () => {
  for (const document of [record, lockfile]) {
    expect(await verifyDocument(document, signer.keys, { prompt: PROMPT })).toMatchObject({ verified: true });
    const { verified, checks } = await verifyDocument(document, signer.keys, {
      prompt: { input: PROMPT.input },
    });
    expect(verified).toBe(false);
    const named = document === record ? "instructionsHash" : "promptHash";
    expect(checks.find(({ name }) => name === "prompt_matches")?.detail).toContain(`${named} is "`);
  }
  const { checks } = await verifyDocument(receipt, signer.keys, { prompt: PROMPT });
  expect(checks.at(-1)).toMatchObject({ name: "prompt_matches", ok: false });
});

test("the members outside a record's seal are those that the contract names", () => {
  expect(FORMS["service.pinned-record.v1"]?.outside).toEqual(UNSEALED);
});

test("one changed byte is restored from the hash, and a truncated or too long text gives null", () => {
  const text = sealedText(record);
  const hash = Buffer.from(sha256Hex(text), "hex");
  expect(beforeOneChange(text.replace("stateless", "statelesz"), hash)).toBe(text);
  expect(beforeOneChange(`${text.slice(0, -1)}]`, hash)).toBe(text);
  expect(beforeOneChange(text.slice(0, 40).replace("record", "recorb"), hash)).toBeNull();
  const short = Buffer.from(sha256Hex('{"a":"ü"}'), "hex");
  expect(beforeOneChange('{"a":"ý"}', short)).toBe('{"a":"ü"}');
  expect(beforeOneChange("x".repeat(20_000), hash)).toBeNull();
}, 60_000);

test("a copy of the folder and the canonical form verifies a document without other files of ours", {
  tags: "long",
  timeout: 60_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-copied-"));
  cpSync("server/verify", join(folder, "verify"), {
    recursive: true,
    filter: (name) => !/\.(test|fixture)\.ts$/.test(name),
  });
  const canonical = "platform/text/canonical-text.ts";
  cpSync(`server/${canonical}`, join(folder, canonical));
  const data = JSON.stringify([record, signer.keys]);
  writeFileSync(
    join(folder, "main.mts"),
    `import { verifyDocument } from "./verify/index.ts";
     const [document, keys] = ${data};
     console.log((await verifyDocument(document, keys)).verified, (await verifyDocument({ ...document, x: 1 }, keys)).verified);`,
  );
  const tsx = join(process.cwd(), "node_modules/.bin/tsx");
  const run = spawnSync(tsx, ["main.mts"], { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(run.stdout).toBe("true false\n");
});

test("readJson accepts the texts that JSON.parse accepts, with the same value, and no others", {
  tags: "long",
}, () => {
  const parsed = (text: string) => {
    try {
      return { value: JSON.parse(text) };
    } catch {
      return null;
    }
  };
  const alphabet = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"\\u0041"',
    '"\\',
    '"',
    "1",
    "-",
    "0.5e1",
    "01",
    "true",
    "nul",
    " ",
    "\n",
    "\u0001",
  ];
  let state = 7;
  const chance = (most: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
  let whole = 0;
  for (let round = 0; round < 60_000; round++) {
    const text = Array.from({ length: 1 + chance(7) }, () => alphabet[chance(alphabet.length)]).join("");
    const wanted = parsed(text);
    const read = readJson(text);
    expect("value" in read ? { value: read.value } : null, text).toEqual(wanted);
    if (wanted) whole++;
  }
  expect(whole).toBeGreaterThan(1_000);
});
