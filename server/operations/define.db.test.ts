import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { raw } from "@/server/api/endpoint";
import { byKeys, type Operation, operations } from "./define";

const things = operations("Things", byKeys("jobs:read"));
const Thing = z.object({ id: z.string() });

const getThing = things.get("/v1/boxes/{box_id}/things/{thing_id}", {
  summary: "Retrieve a thing",
  query: z.object({ page: z.string().optional() }),
  body: z.object({ note: z.string() }),
  output: Thing,
  errors: ["Gone", "NotFound"],
  run: async (_ctx, { box_id, thing_id }) => ({ id: `${box_id}/${thing_id}` }),
});

describe("an operation", () => {
  test("an operation takes its heading, callers and scope from its group, and its parameters from its path", () => {
    expect(getThing).toMatchObject({
      method: "GET",
      tags: ["Things"],
      auth: ["service_principal"],
      scope: "jobs:read",
    });
    expect(Object.keys(getThing.params?.shape ?? {})).toEqual(["box_id", "thing_id"]);
  });

  test("an operation lists the error that its path implies first, and once", () => {
    expect(getThing.errors).toEqual(["NotFound", "Gone"]);
    const spec = { summary: "A model", output: Thing, run: async () => ({ id: "x" }) };
    expect(things.get("/v1/capabilities/{capability_key}/x", spec).errors).toEqual(["UNKNOWN_CAPABILITY"]);
    expect(things.get("/v1/things", spec).errors).toEqual([]);
  });

  test("an operation has one object as its input, typed by its path and schemas", () => {
    type Input = { box_id: string; thing_id: string } & { page?: string } & { note: string };
    expectTypeOf(getThing).toExtend<Operation<Input, { id: string }>>();
  });

  test("an endpoint that reads the HTTP request is no Operation, so no other interface can offer it", () => {
    const download = things.get("/v1/things/{thing_id}/file", {
      summary: "Download a thing",
      output: raw("text/plain"),
      http: async (_ctx, { thing_id }) => ({ status: 200, headers: {}, body: thing_id }),
    });
    expectTypeOf(download).not.toExtend<Operation<unknown, unknown>>();
    // @ts-expect-error: `run` is not given the request
    things.get("/v1/things", { summary: "x", output: Thing, run: async (_, { incoming }) => incoming });
  });
});
