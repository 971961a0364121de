import { z } from "zod";
import type { ModelFacts, PortAdapter } from "../define";
import { parseReply, postJson, safeWord } from "../http";
import { explainSandboxError, SANDBOX_MODELS, sandboxHeaders } from "./common";

const Micros = z.int().nullable();
const Prices = z.object({ firstYearMicros: Micros, renewalMicros: Micros, transferMicros: Micros });
const RegistrarReply = z.object({
  id: z.string(),
  model: z.string(),
  result: z.discriminatedUnion("kind", [
    z.object({
      kind: z.literal("availability"),
      domain: z.string(),
      available: z.boolean(),
      premium: z.boolean(),
      prices: Prices,
      agreement: z.object({ url: z.string(), version: z.string() }).nullable(),
    }),
    z.object({ kind: z.literal("pricing"), tlds: z.array(Prices.extend({ tld: z.string() })) }),
    z.object({ kind: z.literal("unsupported"), tld: z.string() }),
  ]),
});

export const registrarModels = SANDBOX_MODELS.map(
  (model): ModelFacts => ({
    ...model,
    port: "registrar",
    price: { per: "request", micros: 0 },
    supports: {},
  }),
);

export const sandboxRegistrar: PortAdapter<"registrar"> = {
  api: "registrar",
  async submit(call, io) {
    const reply = await postJson(io, "/v1/registrar", {
      body: { model: io.model.id, call },
      headers: sandboxHeaders(io),
      explain: explainSandboxError,
    });
    const { id, model, result } = parseReply(RegistrarReply, reply, io);
    return {
      state: "done",
      result,
      usage: { requests: 1 },
      providerRequestId: safeWord(id, io),
      providerModel: safeWord(model, io),
      httpStatus: reply.status,
    };
  },
};
