import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { toSecrets } from "@/server/platform/crypto/secret";
import type { PortName, Progress, ProviderIo } from "../define";
import { sendPin } from "../pins";
import type { Provider } from "../provider";
import {
  caughtFault,
  everythingOf,
  ioFor,
  type PlainIo,
  pinApi,
  type Script,
  startVendor,
  type Vendor,
} from "./vendor";
import { readSent } from "./wire";

/*
 * Tests that every provider must pass, whatever its vendor: its fixtures, and the truth about whether a request left.
 */

const SECRET = "sk-canary-0a9b8c7d6e5f4a3b2c1d";

/** How a vendor expects its credentials: the fields of the connection, and the headers that carry them. */
export type Signing = { credentials: Record<string, string>; headers: Record<string, string> };
/** The usual case: one key, as a bearer token. */
const BEARER: Signing = { credentials: { apiKey: SECRET }, headers: { authorization: `Bearer ${SECRET}` } };
/** One key in a header of the vendor's own, after a prefix such as `Key ` if the vendor wants one. */
export const keyInHeader = (name: string, word = ""): Signing => ({
  credentials: { apiKey: SECRET },
  headers: { [name]: `${word}${SECRET}` },
});

const Fixture = z.object({
  title: z.string(),
  port: z.enum(["text", "image", "speech", "music", "sound", "video", "mesh", "registrar", "embedding"]),
  model: z.string(),
  call: z.json(),
  sent: z.object({ method: z.string(), path: z.string(), body: z.json() }),
  answer: z.object({
    status: z.int(),
    headers: z.record(z.string(), z.string()).optional(),
    json: z.json().optional(),
    /** A file in place of JSON. */
    base64: z.string().optional(),
  }),
  progress: z.json(),
});

/** Submits a fixture's call. The casts rely on fixtures having the port's shape. */
function submit(
  provider: Provider,
  port: PortName,
  call: unknown,
  io: ProviderIo,
): Promise<Progress<unknown>> {
  const adapter = provider[port];
  if (!adapter) throw new Error(`${provider.name} does not serve ${port}`);
  return adapter.submit(call as never, io);
}

/** Encodes bytes as base64, so that a fixture can contain them. */
const asJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, item) => {
      if (item instanceof Float32Array) return [...item];
      if (typeof item !== "object" || item === null || !("bytes" in item)) return item;
      const { bytes, ...rest } = item;
      // Buffers turn into {type, data} before a replacer sees them.
      return { ...rest, base64: Buffer.from(bytes.data ?? bytes).toString("base64") };
    }),
  );

/** Decodes bytes that a fixture writes as `{"base64": "…"}`, anywhere in a call. */
const withBytes = (call: unknown): unknown =>
  JSON.parse(JSON.stringify(call), (_key, item) => {
    if (typeof item !== "object" || item === null || typeof item.base64 !== "string") return item;
    const { base64, ...rest } = item;
    return { ...rest, bytes: new Uint8Array(Buffer.from(base64, "base64")) };
  });

/**
 * Plays every fixture of a folder against a local vendor and asserts the exact request on the wire: method, path,
 * headers and body. The body is JSON, or the list of a multipart form's parts (see wire.ts).
 */
export function answersItsFixtures(
  provider: Provider,
  folder: string,
  wire: { headers: Record<string, string>; signing?: Signing },
): void {
  const signing = wire.signing ?? BEARER;
  describe(`${provider.name} answers its fixtures`, () => {
    let vendor: Vendor;
    beforeAll(async () => {
      vendor = await startVendor();
    });
    afterAll(() => vendor.stop());

    const fixtures = readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => Fixture.parse(JSON.parse(readFileSync(join(folder, file), "utf8"))));

    test.each(fixtures.map((fixture) => [fixture.title, fixture] as const))("%s", async (_title, fixture) => {
      const { base64, ...answer } = fixture.answer;
      vendor.answer(base64 === undefined ? answer : { ...answer, bytes: Buffer.from(base64, "base64") });
      const { credentials } = signing;
      const io = ioFor(provider, fixture.model, fixture.port, { baseUrl: vendor.url, credentials });
      const progress = await submit(provider, fixture.port, withBytes(fixture.call), io);
      const sent = await Promise.all(vendor.arrived.map(readSent));
      expect(sent.map(({ method, path, body }) => ({ method, path, body }))).toEqual([fixture.sent]);
      expect(vendor.arrived[0]?.headers).toMatchObject({ ...wire.headers, ...signing.headers });
      // A key belongs in a header, because URLs are written into logs on the way.
      expect(vendor.arrived[0]?.path).not.toContain(SECRET);
      expect(asJson(progress)).toEqual(fixture.progress);
    });
  });
}

/**
 * Checks that a refusal, a lack of capacity, silence after sending, a refused connection and a bad answer have the
 * kinds that define.ts documents.
 */
export function tellsTheTruthAboutSubmission(
  provider: Provider,
  {
    port,
    model,
    call,
    signing = BEARER,
  }: { port: PortName; model: string; call: unknown; signing?: Signing | undefined },
): void {
  tellsTheTruth(`${provider.name} tells whether its ${port} request left`, signing, (baseUrl, more) =>
    submit(provider, port, call, ioFor(provider, model, port, { baseUrl, ...more })),
  );
}

/** The same for a pin of one of the provider's interfaces. */
export function tellsTheTruthAboutPins(
  provider: Provider,
  api: string,
  model: string,
  signing = BEARER,
): void {
  tellsTheTruth(`${provider.name} tells whether a pin of its ${api} left`, signing, (baseUrl, more) => {
    const io = ioFor(provider, model, "text", { baseUrl, ...more });
    const call = { input: "Hello", sampling: { maxOutputTokens: 100 } };
    const pin = pinApi(provider, api);
    return sendPin(pin, Buffer.from(JSON.stringify(pin.body(call, io.model, io.tier))), io);
  });
}

function tellsTheTruth(
  title: string,
  signing: Signing,
  send: (baseUrl: string, more: PlainIo) => Promise<unknown>,
): void {
  describe(title, () => {
    let vendor: Vendor;
    beforeAll(async () => {
      vendor = await startVendor();
    });
    afterAll(() => vendor.stop());

    const fault = (baseUrl = vendor.url, more: PlainIo = {}) =>
      caughtFault(send(baseUrl, { credentials: signing.credentials, ...more }));

    const echo = { error: { message: `Bearer ${SECRET}`, type: SECRET, code: SECRET } };
    test.each<[string, Script, string]>([
      ["a refusal", { status: 400, json: echo }, "refused/attempted"],
      ["a wrong key", { status: 401, json: echo }, "refused/attempted"],
      ["a full house", { status: 429, json: echo, headers: { "retry-after": "2" } }, "capacity/attempted"],
      ["a failure", { status: 500, json: echo }, "failed/attempted"],
      ["no JSON", { text: `Bearer ${SECRET}` }, "failed/attempted"],
      ["JSON of another shape", { json: echo }, "failed/attempted"],
      ["silence after sending", "close", "lost/ambiguous"],
      ["a reset after sending", "reset", "lost/ambiguous"],
      ["half an answer", "cut", "lost/ambiguous"],
    ])("%s has the right kind and submission", async (_case, script, expected) => {
      vendor.answer(script);
      const found = await fault();
      expect(`${found.kind}/${found.submission}`).toBe(expected);
      expect(vendor.arrived).toHaveLength(1);
      expect(everythingOf(found)).not.toContain(SECRET.slice(0, 12));
      if (found.kind === "capacity") expect(found.details.retryAfterMs).toBe(2_000);
    });

    test("a request is not attempted if the connection is refused", async () => {
      const found = await fault("http://127.0.0.1:1");
      expect(`${found.kind}/${found.submission}`).toBe("unreachable/not_attempted");
    });

    test("a sent request that our own signal ends is ambiguous and reported as aborted", async () => {
      vendor.answer("silent");
      const stop = new AbortController();
      const call = fault(vendor.url, { signal: stop.signal });
      await expect.poll(() => vendor.arrived.length).toBe(1);
      stop.abort();
      const found = await call;
      expect(`${found.kind}/${found.submission}`).toBe("lost/ambiguous");
      expect(found.details.aborted).toBe(true);
    });
  });
}

/** Tests an account's check: one free, authenticated request in the vendor's format. */
export function checksCredentials(
  provider: Provider,
  expected: { path: string; answer: unknown; signing?: Signing; method?: string },
): void {
  const signing = expected.signing ?? BEARER;
  describe(`${provider.name} checks credentials`, () => {
    let vendor: Vendor;
    beforeAll(async () => {
      vendor = await startVendor();
    });
    afterAll(() => vendor.stop());

    test("a good key passes", async () => {
      vendor.answer({ json: expected.answer });
      await check(provider, vendor.url, signing);
      const { method = "GET", path } = expected;
      expect(vendor.arrived).toMatchObject([{ method, path, headers: signing.headers }]);
    });
  });
  refusesWrongCredentials(provider, signing);
}

async function check(provider: Provider, baseUrl: string, { credentials }: Signing): Promise<void> {
  if (!provider.check) throw new Error(`${provider.name} checks nothing`);
  const account = { baseUrl, credentials: toSecrets(credentials), allowPrivateAddresses: true };
  await provider.check({ ...account, signal: new AbortController().signal });
}

/** Tests that a check passes only an account that the vendor confirmed, sends one request, and reveals no secret. */
export function refusesWrongCredentials(provider: Provider, signing: Signing): void {
  const secrets = Object.values(signing.credentials);
  describe(`${provider.name} lets no wrong credentials pass`, () => {
    let vendor: Vendor;
    beforeAll(async () => {
      vendor = await startVendor();
    });
    afterAll(() => vendor.stop());
    const fault = (baseUrl = vendor.url) => caughtFault(check(provider, baseUrl, signing));

    const echo = { error: { message: secrets[0], type: secrets[0] } };
    test.each<[string, Script, string]>([
      ["a wrong key", { status: 401, json: echo }, "refused"],
      ["a key without the right", { status: 403, json: echo }, "refused"],
      ["a full house", { status: 429, json: echo }, "capacity"],
      ["a failure", { status: 500, json: echo }, "failed"],
      ["no answer", "close", "lost"],
    ])("%s does not pass", async (_case, script, kind) => {
      vendor.answer(script);
      const found = await fault();
      expect(found.kind).toBe(kind);
      expect(vendor.arrived).toHaveLength(1);
      for (const secret of secrets) {
        expect(vendor.arrived[0]?.path).not.toContain(secret);
        expect(everythingOf(found)).not.toContain(secret.slice(0, 12));
      }
    });

    test("a refused connection is unreachable", async () => {
      expect((await fault("http://127.0.0.1:1")).kind).toBe("unreachable");
    });
  });
}
