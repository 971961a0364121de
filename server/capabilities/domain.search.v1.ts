import { z } from "zod";
import { CapabilityFault, defineCapability } from "./define";
import { CredentialSource, DOMAIN, known, toDomain, toUsd } from "./domain/names";

const SearchInput = z.strictObject({
  domain: z
    .string()
    .min(3)
    .refine((name) => toDomain(name) !== null, "is not a domain name")
    .describe("A full name, such as example.com. Other scripts are allowed."),
  credentialSource: CredentialSource,
});
const Usd = z.number().optional().describe("In US dollars. Absent if the registrar does not say.");
const SearchOutput = z.object({
  domain: z.string(),
  available: z.boolean(),
  premium: z.boolean(),
  priceUsd: Usd,
  firstYearPriceUsd: Usd,
  renewalPriceUsd: Usd,
  transferPriceUsd: Usd,
  credentialSource: z.enum(["platform", "customer"]),
  agreementUrl: z.string().optional(),
  agreementVersion: z.string().optional(),
});

export default defineCapability({
  ...DOMAIN,
  key: "domain.search.v1",
  title: "Domain search",
  description: "Looks up whether a domain is free and what it costs. It buys nothing and changes nothing.",
  input: SearchInput,
  output: SearchOutput,
  intentExamples: [
    "Is example.com available?",
    "Check whether a domain name is free",
    "What would this domain cost?",
  ],
  synonyms: ["domain", "domain name", "availability", "registrar", "website address", "whois"],
  taskTags: ["domain", "availability", "infrastructure"],
  readySummary: "Whether a domain is free, with its prices. Free of charge.",
  examples: [{ title: "A name", input: { domain: "lighthouse-keepers.com" } }],
  execute: {
    port: "registrar",
    credentialSource: (input) => input.credentialSource,
    call: (input) => ({ kind: "availability" as const, domain: toDomain(input.domain) ?? input.domain }),
    result(result, input) {
      if (result.kind === "unsupported")
        throw new CapabilityFault(
          "UnsupportedTld",
          `The registrar does not sell names under .${result.tld}.`,
        );
      if (result.kind !== "availability")
        throw new CapabilityFault("PROVIDER_ERROR", "The registrar's answer is about something else.");
      const { domain, available, premium, prices, agreement } = result;
      const firstYear = toUsd(prices.firstYearMicros);
      return {
        typedOutput: {
          domain,
          available,
          premium,
          credentialSource: input.credentialSource ?? "platform",
          ...known({
            priceUsd: firstYear,
            firstYearPriceUsd: firstYear,
            renewalPriceUsd: toUsd(prices.renewalMicros),
            transferPriceUsd: toUsd(prices.transferMicros),
            agreementUrl: agreement?.url ?? null,
            agreementVersion: agreement?.version ?? null,
          }),
        },
        files: [],
      };
    },
    bounds: () => ({ requests: 1 }),
  },
});
