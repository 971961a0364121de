import { z } from "zod";
import { randomFrom } from "../random";
import { definePort } from "./define";

/* A registrar that sells nothing: availability and price follow from the name alone. */

const RegistrarRequest = z.object({
  model: z.string(),
  call: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("availability"), domain: z.string() }),
    z.object({ kind: z.literal("pricing"), tlds: z.array(z.string()) }),
  ]),
});
type RegistrarRequest = z.output<typeof RegistrarRequest>;

/** First year, renewal and transfer in micros of a US dollar. Other endings are not supported. */
const SOLD: Record<string, [number, number, number]> = {
  com: [10_180_000, 11_080_000, 11_080_000],
  net: [11_840_000, 12_520_000, 12_520_000],
  org: [7_500_000, 10_740_000, 10_740_000],
  dev: [10_810_000, 12_870_000, 12_870_000],
  app: [10_810_000, 14_930_000, 14_930_000],
  io: [28_120_000, 51_800_000, 51_800_000],
  "co.uk": [5_170_000, 5_170_000, 0],
};
const PREMIUM_TIMES = 120;

const toPrices = ([firstYearMicros, renewalMicros, transferMicros]: [number, number, number], times = 1) => ({
  firstYearMicros: firstYearMicros * times,
  renewalMicros: renewalMicros * times,
  transferMicros: transferMicros * times,
});
const endingOf = (domain: string) => {
  const labels = domain.split(".");
  const two = labels.slice(-2).join(".");
  return labels.length > 2 && SOLD[two] ? two : (labels.at(-1) ?? "");
};

function answerOf({ call }: RegistrarRequest) {
  if (call.kind === "pricing") {
    const asked = call.tlds.length > 0 ? call.tlds : Object.keys(SOLD);
    const unknown = asked.find((tld) => !SOLD[tld]);
    if (unknown) return { kind: "unsupported", tld: unknown };
    const listed = asked.flatMap((tld) => (SOLD[tld] ? [{ tld, ...toPrices(SOLD[tld]) }] : []));
    return { kind: "pricing", tlds: listed };
  }
  const { domain } = call;
  const tld = endingOf(domain);
  const prices = SOLD[tld];
  if (!prices) return { kind: "unsupported", tld };
  const name = domain.slice(0, -tld.length - 1);
  const random = randomFrom(`domain\n${domain}`);
  const isTaken = name.length < 4 || name === "example" || random() < 0.4;
  const isPremium = name.length < 7 && random() < 0.5;
  return {
    kind: "availability",
    domain,
    available: !isTaken,
    premium: isPremium,
    prices: toPrices(prices, isPremium ? PREMIUM_TIMES : 1),
    agreement: { url: "https://sandbox.invalid/registration-agreement", version: "sandbox-1" },
  };
}

export const registrarPort = definePort("registrar", RegistrarRequest, {
  answer: async (request) => ({ result: answerOf(request) }),
  empty: () => ({ result: { kind: "pricing", tlds: [] } }),
});
