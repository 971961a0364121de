import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { UNSEALED } from "@/server/contract/pinned-records";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import {
  differencesOf,
  FORMS,
  type KeySet,
  lockfileBodyOf,
  manifestEntryOf,
  readJson,
  sealedText,
  verifyDocument,
  verifyText,
} from "@/server/verify";
import { campaign } from "@/testing/campaign";
import {
  type Document,
  makeLockfile,
  makeManifest,
  makeReceipt,
  makeRecord,
  makeSigner,
  PROMPT,
  type Signer,
} from "@/testing/evidence";
import { beforeOneChange } from "./find-change";

let signer: Signer;
let receipt: Document;
let record: Document;
let manifest: Document;
let lockfile: Document;
beforeAll(async () => {
  signer = makeSigner();
  receipt = makeReceipt(signer);
  record = makeRecord(signer);
  manifest = makeManifest(signer, [manifestEntryOf(receipt), manifestEntryOf(record)]);
  lockfile = makeLockfile(signer, await lockfileBodyOf(record));
});

const KINDS = ["receipt", "pinned record", "manifest", "lockfile"] as const;
const documentOf = (kind: (typeof KINDS)[number]) =>
  ({ receipt, "pinned record": record, manifest, lockfile })[kind];

/** The checks that fail, by name. */
const failed = async (value: unknown, keys: KeySet = signer.keys) => {
  const { verified, checks } = await verifyDocument(value, keys);
  expect(verified).toBe(false);
  return checks.filter((check) => !check.ok).map((check) => check.name);
};

describe.each(KINDS)("%s", (kind) => {
  test("verifies as it was sealed, whatever its white space and the order of its members", async () => {
    const document = documentOf(kind);
    const form = FORMS[String(document.schemaVersion)];
    const hash = form?.hashOf(document);
    const wanted = {
      verified: true,
      kind,
      id: document[form?.id ?? ""],
      hash,
      keyId: signer.keys.keys[0]?.kid,
    };
    expect(hash).toMatch(/[0-9a-f]{64}|sha256-/);
    expect(await verifyText(JSON.stringify(document), signer.keys)).toMatchObject(wanted);
    expect(await verifyText(`\n${JSON.stringify(document, null, 4)}\r\n\t`, signer.keys)).toMatchObject(
      wanted,
    );
    const reversed = Object.fromEntries(Object.entries(document).reverse());
    expect(await verifyDocument(reversed, signer.keys)).toMatchObject(wanted);
  });

  test("no byte can be changed unseen", async () => {
    const document = documentOf(kind);
    const bytes = Buffer.from(JSON.stringify(document));
    const same = canonicalText(document);
    let seen = 0;
    const step = campaign.size({ small: 7, full: 1 });
    for (let at = 0; at < bytes.byteLength; at += step) {
      // Two bits of each byte, other ones from place to place, and a digit.
      for (const changed of [
        bytes[at]! ^ (1 << (at % 7)),
        bytes[at]! ^ (1 << ((at + 3) % 8)),
        0x30 + (at % 10),
      ]) {
        if (changed === bytes[at]) continue;
        const text = Buffer.concat([bytes.subarray(0, at), Buffer.from([changed]), bytes.subarray(at + 1)]);
        const { verified } = await verifyText(text.toString("utf8"), signer.keys);
        if (verified) expect(canonicalText(JSON.parse(text.toString("utf8")))).toBe(same);
        else seen++;
      }
    }
    expect(seen).toBeGreaterThan((bytes.byteLength * 2) / step);
  }, 120_000);

  test("no member, however deep, can be changed, left out or added unseen", async () => {
    const document = documentOf(kind);
    // What may be left out of a copy, and is reported: content that is no longer kept, and what became known later.
    const optional = ["output", "nativeResponse", "corrections.0"];
    for (const path of pathsOf(document)) {
      const name = path.join(".");
      const other = structuredClone(document);
      const value = at(other, path);
      put(
        other,
        path,
        typeof value === "string" ? `${value}x` : typeof value === "number" ? value + 1 : "other",
      );
      expect((await verifyDocument(other, signer.keys)).verified, name).toBe(false);
      if (optional.some((each) => each === name)) continue;
      put(other, path, undefined);
      expect((await verifyDocument(other, signer.keys)).verified, `without ${name}`).toBe(false);
    }
    for (const path of [[], ...pathsOf(document)]) {
      const other = structuredClone(document);
      const value = path.length === 0 ? other : at(other, path);
      if (typeof value !== "object" || value === null) continue;
      if (Array.isArray(value)) value.push("more");
      else value.more = null;
      expect((await verifyDocument(other, signer.keys)).verified, `more in ${path.join(".")}`).toBe(false);
    }
  }, 60_000);

  test("is not what another key signed under our key's name", async () => {
    const stranger = makeSigner();
    const [theirs] = stranger.keys.keys;
    const kid = signer.keys.keys[0]?.kid ?? "";
    const disguised = { keys: [{ ...theirs, kty: "OKP", kid }] };
    expect(await failed(documentOf(kind), disguised)).toEqual(
      expect.arrayContaining(["key_known", "signature_valid"]),
    );
  });

  test("a changed body, a changed hash and a changed signature are distinguished", async () => {
    const document = documentOf(kind);
    const form = FORMS[String(document.schemaVersion)]!;
    const detail = async (changed: Document, name: string) =>
      (await verifyDocument(changed, signer.keys)).checks.find((check) => check.name === name)?.detail;

    const body: Document = { ...document, projectId: "cpr_other" };
    expect(await failed(body)).toEqual(["hash_matches", "signature_valid"]);
    expect(await detail(body, "hash_matches")).toContain(String(form.hashOf(document)));

    const hash = structuredClone(document);
    put(hash, form.hashMember.split("."), "0".repeat(64));
    expect(await failed(hash)).toEqual(["hash_matches"]);
    expect(await detail(hash, "hash_matches")).toContain(`${form.hashMember} itself was changed`);

    const signature = structuredClone(document);
    put(signature, ["signature", "value"], (makeSigner().signatureOf(document) as { value: string }).value);
    expect(await failed(signature)).toEqual(["signature_valid"]);
    expect(await detail(signature, "signature_valid")).toContain("the signature was changed");

    const keyId = structuredClone(document);
    put(keyId, ["signature", "keyId"], "someone");
    expect(await failed(keyId)).toContain("key_known");
    expect(await detail(keyId, "key_known")).toContain("signature.keyId was changed");
    expect(await failed({ ...document, signature: null })).toEqual(
      expect.arrayContaining(["signature_valid"]),
    );
    expect(await failed(document, { keys: [] })).toEqual(
      expect.arrayContaining(["key_known", "signature_valid"]),
    );
  });

  test("another copy tells which members differ", async () => {
    const document = documentOf(kind);
    const other: Document = { ...document, projectId: "cpr_other", more: 1 };
    const { verified, checks } = await verifyDocument(document, signer.keys, { other });
    expect(verified).toBe(false);
    const compared = checks.find(({ name }) => name === "same_as_other");
    expect(compared?.detail).toContain(
      `projectId is ${JSON.stringify(document.projectId) ?? "nothing"} here`,
    );
    expect(compared?.detail).toContain("more is nothing here and 1 there");
    expect(await verifyDocument(document, signer.keys, { other: structuredClone(document) })).toMatchObject({
      verified: true,
    });
  });
});

test("what a record holds outside its seal is bound by hashes inside, and named", async () => {
  const output = record.output as Document;
  expect(await failed({ ...record, output: { ...output, text: "Shallow." } })).toEqual(["output_matches"]);
  expect(await failed({ ...record, nativeResponse: null, output: [] })).toEqual(["output_matches"]);
  expect(await failed({ ...record, nativeResponse: {} })).toEqual(["native_response_matches"]);
  expect(await failed({ ...record, receipt_id: "rcpt_2" })).toEqual(["form"]);
  const [correction] = record.corrections as Document[];
  expect(await failed({ ...record, corrections: [{ ...correction, kind: "late_answer" }] })).toEqual([
    "corrections_signed",
  ]);
  // Signed, but of another record.
  const stray: Document = { ...correction, receiptId: "rcpt_2" };
  delete stray.signature;
  const moved = { ...stray, signature: signer.signatureOf(stray) };
  expect(await failed({ ...record, corrections: [moved] })).toEqual(["corrections_signed"]);
});

test("content that is no longer kept leaves a record whole, and its absence is reported", async () => {
  const pruned: Document = { ...record, output: null, corrections: [] };
  delete pruned.nativeResponse;
  const { verified, checks } = await verifyDocument(pruned, signer.keys);
  expect(verified).toBe(true);
  expect(checks.find(({ name }) => name === "output_matches")?.detail).toBe(
    "this copy has no output; outputHash remains valid",
  );
});

test("repeated members, what follows the end, and what is no JSON are reported", async () => {
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

test("a manifest is held against its receipts, each by its own hash", async () => {
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
  // Sealed anew with the key: whole on its own, and not the one the manifest bound.
  const again = makeRecord(signer, { requestHash: "v1:other" });
  const { verified, detail } = await said([again, receipt]);
  expect(verified).toBe(false);
  expect(detail).toContain(
    `requestHash is ${JSON.stringify(record.requestHash)} in the manifest and "v1:other"`,
  );
  expect(detail).toContain("receiptHash is");
  expect((await said([{ ...record, status: "failed" }, receipt])).detail).toContain("does not verify");
});

test("request digests are compared without the words before them", async () => {
  const bare = "0".repeat(64);
  for (const written of [`v1:${bare}`, `sha256:${bare}`, bare])
    expect(differencesOf({ requestHash: written }, { requestHash: bare })).toEqual([]);
  expect(differencesOf({ requestHash: `v1:${bare}` }, { requestHash: "1".repeat(64) })).toHaveLength(1);
  expect(differencesOf({ outputHash: `v1:${bare}` }, { outputHash: bare })).toHaveLength(1);
});

test("a lockfile is held against its record", async () => {
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

test("a prompt is held against the hashes of a record and of a lockfile", async () => {
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

test("the members outside a record's seal are those the contract names", () => {
  expect(FORMS["service.pinned-record.v1"]?.outside).toEqual(UNSEALED);
});

test("one changed byte is found by its hash; two are not", () => {
  const text = sealedText(record);
  const hash = Buffer.from(sha256Hex(text), "hex");
  expect(beforeOneChange(text.replace("stateless", "statelesz"), hash)).toBe(text);
  expect(beforeOneChange(`${text.slice(0, -1)}]`, hash)).toBe(text);
  expect(beforeOneChange(text.slice(0, 40).replace("record", "recorb"), hash)).toBeNull();
  const short = Buffer.from(sha256Hex('{"a":"ü"}'), "hex");
  expect(beforeOneChange('{"a":"ý"}', short)).toBe('{"a":"ü"}');
  expect(beforeOneChange("x".repeat(20_000), hash)).toBeNull();
}, 60_000);

test("the folder and the canonical form beside it verify where they are copied to, with nothing else", {
  tags: "long",
  timeout: 60_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-copied-"));
  cpSync("server/verify", join(folder, "verify"), {
    recursive: true,
    filter: (name) => !name.endsWith(".test.ts"),
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

type Path = (string | number)[];

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const here = [...path, key];
    return [here, ...pathsOf(member, here)];
  });
}

const at = (value: Json, path: Path): Json =>
  path.reduce<Json>((place, key) => (place as Document)[key] as Json, value);

function put(document: Document, path: Path, value: Json | undefined): void {
  const place = at(document, path.slice(0, -1)) as Document;
  const key = path.at(-1)!;
  if (value !== undefined) place[key] = value;
  else if (Array.isArray(place)) place.splice(Number(key), 1);
  else delete place[key];
}

test("a text is JSON here exactly where a parser says so, and is then the same value", {
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
