import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fail } from "@/server/platform/errors/errors";
import { campaign } from "@/testing/campaign";
import { incoming, jsonOf } from "@/testing/requests";
import { bytes, endpoint, raw, reply, respond } from "./endpoint";
import { base, echo, throwing } from "./endpoint.fixture";

describe("requests", () => {
  test("parameters, query and body are parsed by their schemas, and unknown query fields are ignored", async () => {
    const answer = await respond(
      echo,
      incoming({
        params: { thing_id: "a b" },
        query: "limit=7&tag=x&tag=y&other=1&other=2",
        body: { name: "n" },
      }),
    );
    expect(answer.status).toBe(200);
    expect(jsonOf(answer).seen).toEqual({
      params: { thing_id: "a b" },
      query: { limit: 7, tag: ["x", "y"] },
      body: { name: "n" },
    });
  });

  test.each([
    ["a missing field", { body: {} }, ["body", "name"], "missing"],
    ["no body", {}, ["body"], "missing"],
    ["a wrong type", { body: { name: 1 } }, ["body", "name"], "string_type"],
    [
      "a query value of the wrong form",
      { query: "limit=x", body: { name: "n" } },
      ["query", "limit"],
      "number_type",
    ],
    [
      "a query value out of bounds",
      { query: "limit=0", body: { name: "n" } },
      ["query", "limit"],
      "greater_than_equal",
    ],
    [
      "a single value twice",
      { query: "limit=1&limit=2", body: { name: "n" } },
      ["query", "limit"],
      "repeated",
    ],
    ["NUL in the query", { query: "limit=%00", body: { name: "n" } }, ["query", "limit"], "nul_character"],
    [
      "NUL in the path",
      { params: { thing_id: "\0" }, body: { name: "n" } },
      ["path", "thing_id"],
      "nul_character",
    ],
    ["no parameter", { params: {}, body: { name: "n" } }, ["path", "thing_id"], "missing"],
    ["a duplicate key", { body: '{"name":"a","name":"b"}' }, ["body"], "duplicate_key"],
  ])("invalid input is 422: %s", async (_name, asked, loc, type) => {
    const answer = await respond(echo, incoming({ method: "POST", params: { thing_id: "t" }, ...asked }));
    expect(answer.status).toBe(422);
    const { detail } = jsonOf(answer);
    expect(detail[0]).toMatchObject({ loc, type, msg: expect.any(String) });
    expect(JSON.stringify(detail)).not.toContain("hunter2");
  });

  test("all wrong fields are reported at once", async () => {
    const strict = endpoint({
      ...base,
      body: z.strictObject({ a: z.string() }),
      run: async () => ({ seen: null }),
    });
    const { detail } = jsonOf(await respond(strict, incoming({ body: { b: 1, c: 2 } })));
    expect(detail.map((issue: { loc: string[] }) => issue.loc)).toEqual([
      ["body", "a"],
      ["body", "b"],
      ["body", "c"],
    ]);
  });

  test("a body may be absent if its schema allows that", async () => {
    const optional = endpoint({
      ...base,
      body: z.object({}).optional(),
      run: async (_ctx, { body }) => ({ seen: body ?? "none" }),
    });
    expect(jsonOf(await respond(optional, incoming({ method: "POST" })))).toEqual({ seen: "none" });
  });

  test("a body that is not declared as JSON is 415", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]) {
      const answer = await respond(
        echo,
        incoming({ params: { thing_id: "t" }, body: { name: "n" }, headers: { "content-type": type } }),
      );
      expect(answer.status).toBe(415);
      expect(jsonOf(answer).detail.code).toBe("UnsupportedMediaType");
    }
    for (const type of [
      "application/json; charset=utf-8",
      "Application/JSON",
      "application/merge-patch+json",
    ]) {
      const answer = await respond(
        echo,
        incoming({ params: { thing_id: "t" }, body: { name: "n" }, headers: { "content-type": type } }),
      );
      expect(answer.status).toBe(200);
    }
  });

  test("a compressed body, or one in another charset than UTF-8, is 415", async () => {
    const send = (headers: Record<string, string>, body = { name: "n" }) =>
      respond(
        echo,
        incoming({
          params: { thing_id: "t" },
          body,
          headers: { "content-type": "application/json", ...headers },
        }),
      );
    const refused: Record<string, string>[] = [
      { "content-encoding": "gzip" },
      { "content-encoding": "identity, br" },
      { "content-type": "application/json; charset=utf-16" },
      { "content-type": 'application/json;charset="ISO-8859-1"' },
    ];
    for (const headers of refused) {
      const answer = await send(headers);
      expect([headers, answer.status]).toEqual([headers, 415]);
      expect(jsonOf(answer).detail.code).toBe("UnsupportedMediaType");
    }
    const taken: Record<string, string>[] = [
      { "content-encoding": "Identity" },
      { "content-encoding": "" },
      { "content-type": 'application/json; Charset="UTF-8"' },
      { "content-type": "application/json; charset=us-ascii" },
    ];
    for (const headers of taken) expect((await send(headers)).status).toBe(200);
    const ascii = { "content-type": "application/json; charset=US-ASCII" };
    expect((await send(ascii, { name: "é" })).status).toBe(415);
  });

  test("a body over the limit is 413, whether its length is declared or not", async () => {
    const small = endpoint({
      ...base,
      body: z.object({ text: z.string() }),
      bodyLimit: 100,
      run: async () => ({ seen: 1 }),
    });
    const at = { text: "x".repeat(100 - '{"text":""}'.length) };
    expect((await respond(small, incoming({ body: at }))).status).toBe(200);
    const over = { text: `${at.text}x` };
    for (const headers of [{}, { "content-length": undefined }]) {
      const answer = await respond(small, incoming({ body: over, headers }));
      expect(answer.status).toBe(413);
      expect(jsonOf(answer).detail).toMatchObject({ code: "PayloadTooLarge", details: { maxBytes: 100 } });
    }
  });

  test("reading stops as soon as an undeclared body is too long", async () => {
    let pieces = 0;
    async function* endless() {
      for (;;) {
        pieces++;
        yield new Uint8Array(65_536);
      }
    }
    const asked = {
      ...incoming({
        method: "POST",
        params: { thing_id: "t" },
        headers: { "content-type": "application/json" },
      }),
      body: endless(),
    };
    expect((await respond(echo, asked)).status).toBe(413);
    expect(pieces).toBeLessThan(20);
  });

  test("an endpoint with a raw body gets the stream unread", async () => {
    const upload = endpoint({
      ...base,
      rawBody: true,
      run: async (_ctx, { incoming }) => {
        let length = 0;
        for await (const chunk of incoming.body ?? []) length += chunk.byteLength;
        return { seen: length };
      },
    });
    expect(jsonOf(await respond(upload, incoming({ body: new Uint8Array(3_000_000) })))).toEqual({
      seen: 3_000_000,
    });
  });
});

describe("responses", () => {
  test("every response has a request id and the version, and is neither cached nor sniffed", async () => {
    const answers = [
      await respond(echo, incoming({ params: { thing_id: "t" }, body: { name: "n" } })),
      await respond(echo, incoming({ params: { thing_id: "t" }, body: {} })),
      await respond(
        throwing(() => fail("NotFound", "No.")),
        incoming({ method: "POST" }),
      ),
    ];
    for (const { headers } of answers) {
      expect(headers["x-request-id"]).toMatch(/^req_[0-9a-z]{26}$/);
      expect(headers).toMatchObject({
        "x-capstan-version": expect.stringMatching(/^\d+\.\d+\.\d+/),
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "content-type": "application/json",
        "ratelimit-limit": expect.stringMatching(/^\d+$/),
        "ratelimit-remaining": expect.stringMatching(/^\d+$/),
        "ratelimit-reset": expect.stringMatching(/^\d+$/),
      });
    }
    expect(new Set(answers.map(({ headers }) => headers["x-request-id"])).size).toBe(3);
  });

  test("a well-formed request id of the caller is kept, and any other is replaced", async () => {
    const idFor = async (given: string) =>
      (await respond(echo, incoming({ params: {}, headers: { "x-request-id": given } }))).headers[
        "x-request-id"
      ];
    expect(await idFor("trace-1.2:3_4")).toBe("trace-1.2:3_4");
    for (const odd of ["", "a b", "x".repeat(129), "a\r\nset-cookie: b", "<script>"]) {
      expect(await idFor(odd)).toMatch(/^req_/);
    }
  });

  test("a reply has its own status and headers", async () => {
    const created = endpoint({
      ...base,
      run: async () => reply({ seen: 1 }, { status: 201, headers: { "x-execution-id": "wfr_1" } }),
    });
    const answer = await respond(created, incoming());
    expect(answer).toMatchObject({
      status: 201,
      headers: { "x-execution-id": "wfr_1", "content-type": "application/json" },
    });
  });

  test("serialized bytes and raw responses are sent unchanged", async () => {
    const ready = endpoint({
      ...base,
      run: async () =>
        bytes({ body: '{"a":1}', headers: { etag: '"1"', "content-type": "application/json" } }),
    });
    expect(await respond(ready, incoming())).toMatchObject({
      status: 200,
      body: '{"a":1}',
      headers: { etag: '"1"' },
    });
    const file = endpoint({
      ...base,
      output: raw("application/octet-stream"),
      run: async () => ({ status: 206, headers: {}, body: new Uint8Array(2) }),
    });
    expect(await respond(file, incoming())).toMatchObject({
      status: 206,
      headers: { "content-type": "application/octet-stream" },
    });
  });

  test("an output that breaks the contract is an opaque 500 in development", async () => {
    const broken = endpoint({
      ...base,
      output: z.object({ id: z.string() }),
      run: async () => JSON.parse('{"id":5,"secret":"s"}'),
    });
    const answer = await respond(broken, incoming());
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("secret");
  });
});

test("no body, path or query causes a 500", async () => {
  const open = endpoint({
    ...base,
    params: z.object({ thing_id: z.string().max(50) }),
    query: z.object({ limit: z.coerce.number().int().optional(), at: z.iso.datetime().optional() }),
    body: z.strictObject({
      name: z.string().optional(),
      deep: z.json().optional(),
      when: z.iso.datetime().optional(),
    }),
    run: async () => ({ seen: 1 }),
  });
  const json = fc.oneof(
    fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.stringify(value)),
    fc
      .record({ name: fc.anything(), deep: fc.anything() })
      .map(
        (value) =>
          JSON.stringify(value, (_key, each) => (typeof each === "bigint" ? Number(each) : each)) ?? "",
      ),
    fc.string({ unit: "binary" }),
  );
  const hostile = fc.record({
    body: fc.oneof(json, fc.uint8Array({ maxLength: 100 })),
    query: fc.string({ unit: "binary" }),
    thing_id: fc.string({ unit: "binary" }),
    type: fc.constantFrom("application/json", "application/json; charset=utf-16", "text/plain", "\u0000"),
    length: fc.constantFrom(undefined, "0", "-1", "1e9", "NaN", "99999999999999999999"),
  });
  await fc.assert(
    fc.asyncProperty(hostile, async ({ body, query, thing_id, type, length }) => {
      const headers = { "content-type": type, ...(length === undefined ? {} : { "content-length": length }) };
      const answer = await respond(open, incoming({ body, query, params: { thing_id }, headers }));
      expect([200, 413, 415, 422]).toContain(answer.status);
      expect(() => jsonOf(answer)).not.toThrow();
    }),
    campaign.runs({ small: 1_000, full: 10_000 }),
  );
});
