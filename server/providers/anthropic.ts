import { z } from "zod";
import { pinsWith } from "./anthropic-ports/pins";
import { explainAnthropicError, toAnthropicProgress } from "./anthropic-ports/reply";
import { toMessagesRequest } from "./anthropic-ports/request";
import { gatherMessage } from "./anthropic-ports/stream";
import type { ModelFacts, ProviderAccount, ProviderIo, TextCall } from "./define";
import { bearer, getJson, type HttpReply, postForEvents, postJson } from "./http";
import { defineProvider } from "./provider";
import { endedEarly } from "./text-call";

/* Anthropic: text through the Messages API. Structured outputs use `output_config.format`. */

/** Headers as the vendor's own client sends them. This API version no longer accepts a temperature for any model. */
const headers = (io: Pick<ProviderIo, "credentials">) => ({
  ...bearer(io),
  "anthropic-version": "2026-10-21",
});
const explained = { explain: explainAnthropicError };

async function submit(call: TextCall, io: ProviderIo) {
  const gathered = gatherMessage();
  const reply = await postJson(io, "/v1/messages", {
    body: toMessagesRequest(call, io),
    headers: headers(io),
    onEvent: gathered.take,
    ...explained,
  });
  return reply.body === undefined ? gatheredProgress(gathered, reply, io) : toAnthropicProgress(reply, io);
}

function gatheredProgress(gathered: ReturnType<typeof gatherMessage>, reply: HttpReply, io: ProviderIo) {
  const whole = gathered.whole();
  if (!whole) throw endedEarly("Anthropic");
  return toAnthropicProgress({ ...reply, body: whole.message }, io, whole);
}

async function stream(call: TextCall, io: ProviderIo, onText: (text: string) => void) {
  const sent = { ...toMessagesRequest(call, io), stream: true };
  const gathered = gatherMessage(onText);
  const reply = await postForEvents(io, "/v1/messages", {
    body: sent,
    headers: headers(io),
    onEvent: gathered.take,
    ...explained,
  });
  if (reply.body === undefined) return gatheredProgress(gathered, reply, io);
  const progress = toAnthropicProgress(reply, io);
  if (progress.result.text !== "") onText(progress.result.text);
  return progress;
}

async function check(account: ProviderAccount): Promise<void> {
  await getJson(account, "/v1/models?limit=1", { headers: headers(account), ...explained });
}

/*
 * Ids, context windows, limits and prices are from the vendor's model pages (platform.claude.com/docs/en/models, as of
 * October 2026). A picture counts one token per patch of 28 pixels (page on vision): at most 4,784 on the newer
 * generation, 1,568 on older models.
 */
const NEWER: Pick<
  ModelFacts,
  "port" | "contextWindow" | "maxOutputTokens" | "imageTokens" | "imagePatch" | "supports" | "takes"
> = {
  port: "text",
  takes: ["stop"],
  contextWindow: 1_000_000,
  maxOutputTokens: 128_000,
  imageTokens: 4_784,
  imagePatch: { edge: 28 },
  supports: { jsonObject: true, jsonSchema: true, reasoning: true, tools: true, stream: true, vision: true },
};

/**
 * For every listed model, a cache write costs a quarter more than input for five minutes, and twice the input price for
 * an hour.
 */
const writes = (input: number) => ({ "5m": (input / 4) * 5, "1h": input * 2 });

export default defineProvider({
  name: "anthropic",
  title: "Anthropic",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An API key for an Anthropic workspace.") }),
  environment: { credentials: { apiKey: "ANTHROPIC_API_KEY" }, baseUrl: "ANTHROPIC_BASE_URL" },
  defaultBaseUrl: "https://api.anthropic.com",
  models: [
    {
      ...NEWER,
      id: "claude-haiku-5-5",
      title: "Claude Haiku 5.5",
      // For prompts up to 100,000 tokens; longer ones cost five times as much.
      price: {
        per: "million_tokens",
        input: 100_000,
        cachedInput: 10_000,
        output: 500_000,
        cacheWrite: writes(100_000),
      },
      contextWindow: 100_000,
      grades: ["fast"],
    },
    {
      ...NEWER,
      id: "claude-sonnet-5-5",
      title: "Claude Sonnet 5.5",
      price: {
        per: "million_tokens",
        input: 2_000_000,
        cachedInput: 200_000,
        output: 10_000_000,
        cacheWrite: writes(2_000_000),
      },
      grades: ["reasoning", "longform"],
    },
    {
      ...NEWER,
      id: "claude-opus-5-5",
      title: "Claude Opus 5.5",
      price: {
        per: "million_tokens",
        input: 4_000_000,
        cachedInput: 200_000,
        output: 20_000_000,
        cacheWrite: writes(4_000_000),
      },
      grades: ["reasoning", "frontier", "longform"],
    },
    {
      ...NEWER,
      id: "claude-fable-5-1",
      title: "Claude Fable 5.1",
      // The price of cached tokens is unknown, so they are charged as input.
      price: {
        per: "million_tokens",
        input: 10_000_000,
        output: 50_000_000,
        cacheWrite: writes(10_000_000),
      },
      grades: ["frontier"],
    },
    {
      ...NEWER,
      id: "claude-haiku-4-5",
      title: "Claude Haiku 4.5",
      price: {
        per: "million_tokens",
        input: 1_000_000,
        output: 5_000_000,
        cacheWrite: writes(1_000_000),
      },
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      imageTokens: 1_568,
      grades: ["fast"],
      onlyByName: true,
      // Newer models always reason, and then no tool call can be forced.
      supports: { ...NEWER.supports, forcedTools: true },
    },
  ],
  check,
  text: { api: "messages", submit, stream },
  pins: pinsWith(headers),
});
