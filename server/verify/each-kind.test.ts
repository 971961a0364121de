import { beforeAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "@/server/platform/text/canonical";
import { FORMS, verifyDocument, verifyText } from "@/server/verify";
import { campaign } from "@/testing/campaign";
import { type Document, makeSigner } from "@/testing/evidence";
import { failed, lockfile, manifest, receipt, record, sealDocuments, signer } from "./verify.fixture";

beforeAll(sealDocuments);

const KINDS = ["receipt", "pinned record", "manifest", "lockfile"] as const;
const documentOf = (kind: (typeof KINDS)[number]) =>
  ({ receipt, "pinned record": record, manifest, lockfile })[kind];

describe.each(KINDS)("%s", (kind) => {
  test("a document verifies as it was sealed, whatever its white space and the order of its members", async () => {
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

  test("a changed byte makes a document invalid, unless its canonical form stays the same", async () => {
    const document = documentOf(kind);
    const bytes = Buffer.from(JSON.stringify(document));
    const same = canonicalText(document);
    let seen = 0;
    const step = campaign.size({ small: 7, full: 1 });
    for (let at = 0; at < bytes.byteLength; at += step) {
      // Changes each byte in three ways: two single bits, which vary with the place, and a digit.
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

  test("a document is invalid if a member at any depth is changed, added, or left out without being optional", async () => {
    const document = documentOf(kind);
    // A copy may leave these out: content that is no longer kept, and later corrections.
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

  test("a key set that lists another key under the signer's id fails the key and signature checks", async () => {
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

  test("a comparison with another copy names the members that differ", async () => {
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
