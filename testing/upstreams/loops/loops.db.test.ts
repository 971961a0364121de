import { afterAll, beforeAll, expect, test } from "vitest";
import { serveOpenAI } from "@/server/api/openai/client.fixture";
import * as connections from "@/server/domain/connections";
import { env } from "@/server/platform/settings/env";
import { makeTenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { ANY_ID, assistants, comesBack, type Double, type Request, type Sent } from "./double";
import { DOUBLES } from "./doubles";
import { DEEPSEEK } from "./doubles/thinking";
import { type Doubles, startDoubles } from "./server";
import { type Client, TALKS, type Talk } from "./talks";
import { ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION, RESULTS } from "./task";

/* An agent's loop of tools against a double of each server, which must get its own ids and members back. */

const before = { ...env };
const world = serveOpenAI({ maxRetries: 0 });
let servers: Doubles;
beforeAll(async () => {
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
  servers = await startDoubles(DOUBLES);
  setSettings({ DEEPSEEK_BASE_URL: `${servers.url}/${DEEPSEEK.name}` });
});
afterAll(async () => {
  setSettings(before);
  await servers.stop();
});

/** The providers that reach a double: a customer's own server, or the built-in one. */
const ROUTES = [
  ...DOUBLES.map((double) => ({ double, provider: "openai-compatible" })),
  { double: DEEPSEEK, provider: "deepseek" },
];
type Route = (typeof ROUTES)[number];

/** A client of a new tenant whose only connection is to this server. */
async function clientFor({ double, provider }: Route): Promise<Client> {
  const tenant = await makeTenant();
  await connections.createCredential(
    system,
    tenant.organizationId,
    {
      provider,
      secret: "sk-own-123456",
      label: double.name,
      ...(provider === "openai-compatible"
        ? { endpointUrl: servers.urlOf(double), models: `${double.model}:1:2` }
        : {}),
    },
    { places: [{ projectId: tenant.projectId, environment: "development" }] },
  );
  return { tenant, client: world.clientOf(tenant.key), model: `${provider}/${double.model}` };
}

/** Works as an agent does: calls the tools that an answer requests until it requests none, then asks the next question. */
async function work(talk: Talk): Promise<{ texts: string[]; called: string[][] }> {
  const [texts, called]: [string[], string[][]] = [[], []];
  for (const question of [QUESTION, NEXT_QUESTION]) {
    talk.say(question);
    for (;;) {
      const { text, calls } = await talk.ask();
      if (calls.length === 0) {
        texts.push(text);
        break;
      }
      const asked = calls.map((call) => `${call.name} ${JSON.parse(call.arguments).city}`);
      expect(new Set(calls.map(({ id }) => id)).size, "the calls of an answer have different ids").toBe(
        calls.length,
      );
      called.push(asked);
      for (const [place, { id }] of calls.entries()) talk.result(id, RESULTS[asked[place] ?? ""] ?? "");
    }
  }
  return { texts, called };
}

/** The whole conversation that the server must get with the last request; `anyId` replaces the id of a call without one. */
const historyOf = ({ answers, back = comesBack }: Double, anyId: string): Sent[] => {
  const own = answers.map((each) => back(each) as Sent); // an assistant message
  for (const call of own.flatMap(({ tool_calls = [] }) => tool_calls))
    if (call.id === ANY_ID) call.id = anyId;
  const user = (content: string) => ({ role: "user", content });
  const results = (place: number) =>
    (own[place]?.tool_calls ?? []).map(({ id, function: called }) => ({
      role: "tool",
      tool_call_id: id,
      content: RESULTS[`${called.name} ${JSON.parse(String(called.arguments)).city}`],
    }));
  return [user(QUESTION), own[0]!, ...results(0), own[1]!, ...results(1), own[2]!, user(NEXT_QUESTION)]; // there are four answers
};

const QUICK = ["chat completions", "streamed chat completions"];
const names = Object.keys(TALKS);
for (const [place, route] of ROUTES.entries())
  for (const name of [
    ...QUICK,
    ...campaign.inTurn(
      names.filter((each) => !QUICK.includes(each)),
      place,
    ),
  ])
    test(`${route.double.name} as ${route.provider} gets its own ids and members back through ${name}`, async () => {
      const { double } = route;
      const talk = TALKS[name]!(await clientFor(route)); // route and name come from the lists
      const { texts, called } = await work(talk);
      expect(called).toEqual([["get_weather Rome", "get_time Rome"], ["get_weather Oslo"]]);
      expect(texts).toEqual([ANSWER, NEXT_ANSWER]);
      expect(servers.received(double).at(-1)?.messages).toEqual(
        historyOf(double, expect.stringMatching(/./)),
      );
    });

const ask = async (double: Double, request: Request) => {
  const answer = await fetch(`${servers.urlOf(double)}/chat/completions`, {
    method: "POST",
    body: JSON.stringify(request),
  });
  return { status: answer.status, text: await answer.text() };
};

for (const double of DOUBLES)
  test(`the double of ${double.name} accepts a valid history and refuses each invalid one`, async () => {
    const right = (): Request => ({
      model: double.model,
      messages: structuredClone(historyOf(double, "call_1")),
    });
    expect(assistants(right())).toHaveLength(3);
    expect(await ask(double, right())).toMatchObject({ status: 200 });
    for (const [name, { status, isWithinTurn, change }] of Object.entries(double.wrong)) {
      const request = right();
      if (isWithinTurn) request.messages.splice(-2); // the turn's answer, and the next question
      change(request.messages);
      expect({ name, status: (await ask(double, request)).status }).toEqual({ name, status });
    }
  });
