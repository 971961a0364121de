import { z } from "zod";
import { CapabilityFault, defineCapability } from "./define";
import { CredentialSource, DOMAIN, toTld, toUsd, Usd } from "./domain/names";

const PricingInput = z.strictObject({
  credentialSource: CredentialSource,
  tlds: z
    .array(
      z
        .string()
        .min(1)
        .refine((tld) => toTld(tld) !== null, "is not a top-level domain"),
    )
    .min(1)
    .max(100)
    .optional()
    .describe("Such as com or .org. If left out, all that the registrar sells."),
});
const PricingOutput = z.object({
  credentialSource: z.enum(["platform", "customer"]),
  tlds: z.array(
    z.object({ tld: z.string(), firstYearPriceUsd: Usd, renewalPriceUsd: Usd, transferPriceUsd: Usd }),
  ),
});

export default defineCapability({
  ...DOMAIN,
  key: "domain.pricing.v1",
  title: "Domain pricing",
  description:
    "Lists what names under top-level domains cost: the first year, renewal and transfer. It buys nothing.",
  input: PricingInput,
  output: PricingOutput,
  intentExamples: ["What does a .com domain cost?", "Compare renewal prices of top-level domains"],
  synonyms: ["domain price", "tld", "top-level domain", "renewal", "transfer", "registrar prices"],
  taskTags: ["domain", "pricing", "infrastructure"],
  readySummary: "Prices of top-level domains. Free of charge.",
  examples: [{ title: "Two top-level domains", input: { tlds: ["com", "dev"] } }],
  execute: {
    port: "registrar",
    credentialSource: (input) => input.credentialSource,
    call: (input) => ({
      kind: "pricing" as const,
      tlds: [...new Set((input.tlds ?? []).map((tld) => toTld(tld) ?? tld))],
    }),
    result(result, input) {
      if (result.kind === "unsupported")
        throw new CapabilityFault(
          "UnsupportedTld",
          `The registrar does not sell names under .${result.tld}.`,
        );
      if (result.kind !== "pricing" || result.tlds.length === 0)
        throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The registrar's answer contains no price.");
      return {
        typedOutput: {
          credentialSource: input.credentialSource ?? "platform",
          tlds: result.tlds.map(({ tld, firstYearMicros, renewalMicros, transferMicros }) => ({
            tld,
            firstYearPriceUsd: toUsd(firstYearMicros),
            renewalPriceUsd: toUsd(renewalMicros),
            transferPriceUsd: toUsd(transferMicros),
          })),
        },
        files: [],
      };
    },
    bounds: () => ({ requests: 1 }),
  },
});
