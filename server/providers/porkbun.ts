import { z } from "zod";
import { type DomainPrices, ProviderFault, type ProviderIo, type RegistrarResult } from "./define";
import { type Explanation, type HttpReply, parseReply, postJson } from "./http";
import { defineProvider } from "./provider";

/* Porkbun: looks up names and prices through its JSON API, version 3. No request costs or changes anything. */

const Yes = z.enum(["yes", "no"]);
const Price = z.union([z.string(), z.number()]).nullish();
const Extra = z.object({ price: Price }).nullish();
const Answer = z.object({ status: z.string() });
const CheckReply = z.object({
  status: z.literal("SUCCESS"),
  response: z.object({
    avail: Yes,
    price: Price,
    premium: Yes.nullish(),
    additional: z.object({ renewal: Extra, transfer: Extra }).nullish(),
  }),
});
const PricingReply = z.object({
  status: z.literal("SUCCESS"),
  pricing: z.record(z.string(), z.object({ registration: Price, renewal: Price, transfer: Price })),
});

const Problem = z.object({ code: z.string().nullish(), message: z.string().nullish() });
const UNSUPPORTED = /\btld\b.*\b(not|un)[ -]?(supported|available)|unsupported|not (a )?supported/i;

/** Does an error say that no names are sold under this top-level domain? */
const saysUnsupported = (body: unknown) => {
  const { code, message } = Problem.safeParse(body).data ?? {};
  return /TLD/i.test(code ?? "") || UNSUPPORTED.test(message ?? "");
};

const TLD = "Porkbun does not sell names under this top-level domain.";

function explain({ status, body }: { status: number; body: unknown }): Explanation | undefined {
  const code = Problem.safeParse(body).data?.code;
  if (code === "RATE_LIMIT_EXCEEDED")
    return { kind: "capacity", message: "Porkbun's limit of name checks is reached." };
  if (code === "INVALID_API_KEYS_001" || status === 401 || status === 403)
    return { message: "Porkbun does not accept the API keys." };
  return status === 400 && saysUnsupported(body) ? { message: TLD } : undefined;
}

const headers = ({ credentials }: Pick<ProviderIo, "credentials">) => ({
  "x-api-key": credentials.apiKey?.reveal() ?? "",
  "x-secret-api-key": credentials.secretApiKey?.reveal() ?? "",
});

/** Dollars, with or without thousands separators, to micros; null if malformed. */
function toMicros(price: string | number | null | undefined): number | null {
  const text = String(price ?? "").replaceAll(",", "");
  return /^\d{1,9}(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1_000_000) : null;
}

const done = (result: RegistrarResult, reply: HttpReply) => ({
  state: "done" as const,
  result,
  usage: { requests: 1 },
  providerRequestId: null,
  providerModel: null,
  httpStatus: reply.status,
});

async function availability(domain: string, io: ProviderIo) {
  const path = `/domain/checkDomain/${encodeURIComponent(domain)}`;
  try {
    const reply = await postJson(io, path, { body: {}, headers: headers(io), explain });
    const { response } = parseReply(CheckReply, reply, io);
    const prices: DomainPrices = {
      firstYearMicros: toMicros(response.price),
      renewalMicros: toMicros(response.additional?.renewal?.price),
      transferMicros: toMicros(response.additional?.transfer?.price),
    };
    const [available, premium] = [response.avail === "yes", response.premium === "yes"];
    return done({ kind: "availability", domain, available, premium, prices, agreement: null }, reply);
  } catch (fault) {
    if (!(fault instanceof ProviderFault) || !fault.message.startsWith(TLD)) throw fault;
    const tld = domain.slice(domain.indexOf(".") + 1);
    return { ...done({ kind: "unsupported", tld }, { status: 400, body: null, header: () => null }) };
  }
}

/** The price list is public, so no key is sent. */
async function pricing(tlds: string[], io: ProviderIo) {
  const reply = await postJson(io, "/pricing/get", { body: {}, headers: {}, explain });
  const listed = parseReply(PricingReply, reply, io).pricing;
  const asked = tlds.length > 0 ? tlds : Object.keys(listed).sort();
  const unknown = asked.find((tld) => !Object.hasOwn(listed, tld));
  if (unknown !== undefined) return done({ kind: "unsupported", tld: unknown }, reply);
  const priced = asked.map((tld) => ({
    tld,
    firstYearMicros: toMicros(listed[tld]?.registration),
    renewalMicros: toMicros(listed[tld]?.renewal),
    transferMicros: toMicros(listed[tld]?.transfer),
  }));
  return done({ kind: "pricing", tlds: priced }, reply);
}

export default defineProvider({
  name: "porkbun",
  title: "Porkbun",
  maturity: "NC17",
  credentials: z.object({
    apiKey: z.string().min(1).describe("An API key for a Porkbun account."),
    secretApiKey: z.string().min(1).describe("The secret key that belongs to it."),
  }),
  environment: {
    credentials: { apiKey: "PORKBUN_API_KEY", secretApiKey: "PORKBUN_SECRET_API_KEY" },
    baseUrl: "PORKBUN_BASE_URL",
  },
  defaultBaseUrl: "https://api.porkbun.com/api/json/v3",
  models: [
    {
      id: "porkbun-v3",
      port: "registrar",
      title: "Porkbun",
      price: { per: "request", micros: 0 },
      supports: {},
    },
  ],
  registrar: {
    api: "json-v3",
    submit: (call, io) =>
      call.kind === "availability" ? availability(call.domain, io) : pricing(call.tlds, io),
  },
  check: async (account) => {
    const reply = await postJson(account, "/ping", {
      body: {},
      headers: headers(account),
      explain,
    });
    parseReply(Answer.extend({ status: z.literal("SUCCESS") }), reply, account);
  },
});
