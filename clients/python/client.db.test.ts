import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signedHeaders } from "@/server/domain/webhooks/sign";
import { endpoints } from "@/server/operations";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "@/server/platform/text/canonical";
import { lockfileBodyOf, manifestEntryOf, verifyText } from "@/server/verify";
import { campaign } from "@/testing/campaign";
import { makeLockfile, makeManifest, makeReceipt, makeRecord, makeSigner } from "@/testing/evidence";
import { ask, mypy, python, runPython } from "./python.fixture";

/* Needs a Python with httpx and cryptography: on Debian, the packages python3-httpx and python3-cryptography. */
describe.skipIf(!python)("the client for Python", () => {
  test("its own tests hold, with both clients", { tags: "long" }, () => {
    const { stderr, status } = runPython(python!, [
      "-W",
      "error",
      "-m",
      "unittest",
      "discover",
      "-s",
      "tests",
    ]);
    expect(stderr).toMatch(/^Ran [1-9]\d* tests/m);
    expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  });

  test.skipIf(!mypy || !campaign.isFull)("its types are complete", () => {
    const { stdout } = runPython(mypy!, ["-m", "mypy", "--strict", "--cache-dir=/dev/null", "src"]);
    expect(stdout).toMatch(/^Success: no issues found in [1-9]\d* source files/);
  });

  test("it has the version and the licence of this repository", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(readFileSync("clients/python/pyproject.toml", "utf8")).toContain(`\nversion = "${version}"\n`);
    expect(ask([["version"]])).toEqual([version]);
    expect(readFileSync("clients/python/LICENSE", "utf8")).toBe(readFileSync("LICENSE", "utf8"));
  });

  test("it gives an idempotency key to exactly the writes that take one", () => {
    const takers = endpoints.filter(({ idempotent }) => idempotent).map(({ path }) => path as string);
    expect(ask<string[]>([["keyed"]])[0]!.sort()).toEqual([...new Set(takers)].sort());
  });

  test("it writes every JSON value in the canonical form of the service", () => {
    const values: fc.JsonValue[] = [
      ...[0, -0, 1e21, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308, 0.1, -1.5e-10, 2 ** 53],
      ...['\u2028\u0001\b\t\n\f\r"\\/', { "\ufb33": 1, "\ud83d\ude00": 2, é: 3, "": 4 }, [true, null, []]],
      ...fc.sample(fc.jsonValue({ maxDepth: 4 }), { ...campaign.runs({ small: 500, full: 20_000 }) }),
      ...fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), {
        ...campaign.runs({ small: 2_000, full: 100_000 }),
      }),
    ];
    expect(ask(values.map((value) => ["canonical", value]))).toEqual(
      values.map((value) => canonicalText(value as Json)),
    );
  });

  test("it finds of every document, whole or changed, what the service's own code finds", async () => {
    const signer = makeSigner();
    const [receipt, record] = [makeReceipt(signer), makeRecord(signer)];
    const documents = [
      receipt,
      record,
      makeManifest(signer, [manifestEntryOf(receipt), manifestEntryOf(record)]),
      makeLockfile(signer, await lockfileBodyOf(record)),
    ].map((document) => JSON.stringify(document));
    const step = campaign.size({ small: 5, full: 1 });
    const changed = documents.flatMap((text) =>
      Array.from({ length: Math.floor(text.length / step) }, (_, index) => {
        const at = index * step;
        const other = String.fromCharCode(text.charCodeAt(at) ^ (1 << (index % 5)));
        return [text.slice(0, at), other, text.slice(at + 1)].join("");
      }),
    );
    const twice = documents.map((text) => text.replace("{", '{"schemaVersion":"x",'));
    const texts = [...documents, ...changed, ...twice, "", "[]", '{"schemaVersion":1}', "NaN", '"\\ud800"'];
    const strangers = makeSigner().keys;
    const cases = [
      ...texts.map((text) => ({ text, keys: signer.keys })),
      ...documents.map((text) => ({ text, keys: strangers })),
    ];
    const wanted = await Promise.all(
      cases.map(async ({ text, keys }) => {
        const { verified, kind, id, hash, keyId, checks } = await verifyText(text, keys);
        return [verified, kind, id, hash, keyId, checks.filter(({ ok }) => !ok).map(({ name }) => name)];
      }),
    );
    expect(wanted.filter(([verified]) => verified).length).toBeGreaterThanOrEqual(4);
    const found = ask<unknown[]>(cases.map(({ text, keys }) => ["verify", text, keys]));
    const different = cases.flatMap(({ text }, at) =>
      JSON.stringify(found[at]) === JSON.stringify(wanted[at])
        ? []
        : [{ text, found: found[at], wanted: wanted[at] }],
    );
    expect(different).toEqual([]);
  });

  test("it accepts the service's webhooks, and refuses any other", () => {
    const secret = `whsec_${Buffer.from("24 bytes of a secret key").toString("base64")}`;
    const event = { id: "1", type: "job.succeeded", payload: { title: "Ägäis" } };
    const body = JSON.stringify(event);
    const signed = (by = secret, at = Date.now()) => signedHeaders(by, "evt_1", body, new Date(at));
    const upper = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const accepted = [
      [body, signed(), secret],
      [body, upper, [secret, "other"]],
      [body, signed("plain text, ü"), ["other", "plain text, ü"]],
    ];
    const refused = [
      [`${body} `, signed(), secret],
      [body, signed(), "other"],
      [body, signed(), []],
      [body, signed(), "whsec_"],
      [body, {}, secret],
      [body, { ...signed(), "webhook-id": "evt_2" }, secret],
      [body, { ...signed(), "webhook-timestamp": "soon" }, secret],
      [body, { ...signed(), "webhook-signature": "v1,ü" }, secret],
      [body, signed(secret, Date.now() - 301_000), secret],
    ];
    expect(ask([...accepted, ...refused].map((given) => ["webhook", ...given]))).toEqual([
      ...accepted.map(() => event),
      ...refused.map(() => "webhook_signature"),
    ]);
  });
});
