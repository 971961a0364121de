import { expect, test } from "vitest";
import { strictJson } from "@/server/api/body";
import { CapabilityRequestBody } from "@/server/contract/requests";
import { pool } from "@/server/platform/db";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { inTurns } from "@/server/platform/time/turn";
import { fileNeed, NEED } from "@/testing/needs";
import { makeProject } from "@/testing/world";
import * as requests from ".";
import { freezeContent } from "./content";

const frozen = async (text: string) =>
  freezeContent(CapabilityRequestBody.parse(await inTurns(strictJson(Buffer.from(text, "utf8")))));

/*
 * The hashes come from other implementations: Python's json and hashlib, and openssl over a text written by
 * hand.
 */
test.each([
  [
    JSON.stringify(NEED),
    "8c99fa63b557bd96ea86273a824c922ba1e3079ecae5a068f4503474f49d443b", // Python
  ],
  [
    `{ "summary": "Briefmarken sortieren: größe \\"€ 1\\" \\ud83d\\ude00",
       "need": "Zeile 1\\nZeile 2\\t\\\\ \\/", "x-ticket": 17, "projectId": null, "idempotencyKey": "k",
       "constraints": {"maxLatencySeconds": 30.0, "b": null, "a": [1, 2, {"z": true, "y": false}]},
       "acceptanceCases": [{"input": {"image": "a"}, "expected": {"country": "CH"}}],
       "proposedCapability": {"capabilityKey": "stamps.sort.v1"}, "implementationPreferences": {} }`,
    "a505163353995cee196f829055c253389d54aa888fde11c5f60605a9019f9c30", // Python
  ],
  [
    // Members are in the order of UTF-16 code units, numbers as ECMAScript writes them.
    `{"summary":"s","need":"n","\\ufb33":2,"\\ud83d\\ude00":1,"constraints":{"twenty":1e-6,"tiny":5e-324,"small":0.0000001,
      "neg":-0,"large":123456789.125000,"half":5e-1,"big":9007199254740991}}`,
    "8e3a3936f65547d9625dab19b3881a8fc514b69c2a6558d8f0db64af15e3f286", // by hand
  ],
  [
    '{"summary":"s","need":"n","schemaVersion":null}',
    "f6c449ea47d5794f9df5c98c3be65af617d10ba8ae7f2588ca2f92fc9add7122", // openssl
  ],
])("the hash of a wording equals that of other implementations: %#", async (text, hash) => {
  expect((await frozen(text)).hash).toBe(hash);
});

test("the order, spacing and spelling of members do not change the hash, and any other wording does", async () => {
  const hashOf = async (text: string) => (await frozen(text)).hash;
  const base = await hashOf('{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2]}}');
  for (const same of [
    '{ "need" : "n",\n"constraints":{"b":[ 1,2 ],"a":1.0}, "summary":"s" }',
    '{"summary":"\\u0073","need":"n","constraints":{"a":1,"b":[1,2]},"schemaVersion":"service.capability-request.v1"}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2]},"acceptanceCases":null,"idempotencyKey":"k"}',
  ])
    expect(await hashOf(same)).toBe(base);
  const others = [
    '{"summary":"s ","need":"n","constraints":{"a":1,"b":[1,2]}}',
    '{"summary":"S","need":"n","constraints":{"a":1,"b":[1,2]}}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[2,1]}}',
    '{"summary":"s","need":"n","constraints":{"a":"1","b":[1,2]}}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2],"c":null}}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2]},"acceptanceCases":[]}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2]},"own":true}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2]},"Own":true}',
    '{"summary":"s","need":"n","constraints":{"a":1,"b":[1,2]},"projectId":"cpr_x"}',
  ];
  const hashes = await Promise.all(others.map(hashOf));
  expect(new Set([base, ...hashes]).size).toBe(others.length + 1);
});

test("the stored wording is shown as it was hashed, including extra members and odd numbers", async () => {
  const { ctx } = await makeProject();
  const own = {
    constraints: {
      tiny: 5e-324,
      neg: -0,
      half: 0.1 + 0.2,
      big: Number.MAX_SAFE_INTEGER,
      deep: [[[{ "": null }]]],
    },
    "x-own": { toString: "t", constructor: 1, é: "é", "\u{1f600}": ["\u007f\u2028"] },
    summary: "  Kept as sent\t",
  };
  const { id } = await fileNeed(ctx, own);
  const { revision, requestHash } = await requests.get(ctx, id);
  expect(revision.content).toEqual({
    ...NEED,
    ...own,
    constraints: { ...own.constraints, neg: 0 },
    schemaVersion: "service.capability-request.v1",
  });
  expect(requestHash).toBe(`sha256:${sha256Hex(canonicalText(revision.content))}`);
  expect(revision.requestHash).toBe(requestHash);
});

test("a frozen wording and the events of a request cannot be changed or deleted", async () => {
  const { ctx } = await makeProject();
  const { id } = await fileNeed(ctx);
  for (const statement of [
    "UPDATE capability_request_revision SET body = '{}' WHERE request_id = $1",
    "DELETE FROM capability_request_revision WHERE request_id = $1",
    "UPDATE capability_request_event SET payload = '{}' WHERE request_id = $1",
    "DELETE FROM capability_request_event WHERE request_id = $1",
  ])
    await expect(pool.query(statement, [id])).rejects.toThrow(/append-only|never|may not|change/i);
});
