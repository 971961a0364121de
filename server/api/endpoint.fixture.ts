import { z } from "zod";
import { endpoint } from "./endpoint";

const Output = z.object({ seen: z.json() });
export const base = {
  method: "POST",
  path: "/v1/things/{thing_id}",
  summary: "A thing",
  auth: ["anonymous"],
  output: Output,
  errors: ["NotFound", "IdempotencyConflict", "UNKNOWN_EXECUTION_FIELD"],
} as const;

/** Returns the request's own parameters. */
export const echo = endpoint({
  ...base,
  params: z.object({ thing_id: z.string() }),
  query: z.object({ limit: z.coerce.number().int().min(1).default(5), tag: z.array(z.string()).default([]) }),
  body: z.object({ name: z.string(), count: z.number().optional() }),
  run: async (_ctx, { params, query, body }) => ({ seen: { params, query, body } }),
});

/** An endpoint that throws this. */
export const throwing = (error: () => never, envelopeErrors?: true) =>
  endpoint({ ...base, envelopeErrors, run: async () => error() });
