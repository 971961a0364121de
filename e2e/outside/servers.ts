import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ANSWER,
  NEXT_ANSWER,
  NEXT_QUESTION,
  QUESTION,
  RESULTS,
  TOOLS,
} from "../../testing/upstreams/loops/task";
import type { Agent } from "./loops";
import type { Row, World } from "./world";

/*
 * Loops against doubles of servers (testing/upstreams/loops), which refuse what the real servers refuse. Each double is
 * connected in its own project, as its owner would.
 */

type Connected = { apiKey: string; model: string };
const connected = new Map<string, Promise<Connected>>();
let owner: Promise<Ask> | null = null;
// biome-ignore lint/suspicious/noExplicitAny: a check reads answers of every shape
type Ask = (path: string, body: object) => Promise<any>;

/**
 * Checks that a client completes such a loop, whole and streamed: each expected call is made once, and the double answers to
 * the end. The whole loop is followed by another question.
 */
export function serverChecks(world: World, server: string, agentOf: (world: World) => Agent): Row["checks"] {
  const run = (stream: boolean) => async () => {
    const { apiKey, model } = await connectTo(world, server);
    const agent = agentOf({ ...world, apiKey });
    const called: string[] = [];
    const tools = TOOLS.map(({ name, description }) => ({
      name,
      description,
      run({ city }: { city: string }) {
        called.push(`${name} ${city}`);
        return RESULTS[`${name} ${city}`] ?? assert.fail(`${name} was called for ${city}`);
      },
    }));
    const { text, history } = await agent({ question: QUESTION, tools, model, stream });
    assert.equal(text, ANSWER);
    assert.deepEqual(called.sort(), Object.keys(RESULTS).sort());
    if (stream) return;
    const next = await agent({ question: NEXT_QUESTION, tools, model, history });
    assert.equal(next.text, NEXT_ANSWER);
  };
  return { whole: run(false), streamed: run(true) };
}

const connectTo = (world: World, server: string): Promise<Connected> => {
  const known = connected.get(server) ?? connect(world, server);
  connected.set(server, known);
  return known;
};

async function connect(world: World, server: string): Promise<Connected> {
  const endpointUrl = `${world.serversUrl}/${server}/v1`;
  const { data } = await (await fetch(`${endpointUrl}/models`)).json();
  const { organizationId } = bootstrapOf(world);
  owner ??= signIn(world);
  const ask = await owner;
  const { projectId } = await ask(`/v1/organizations/${organizationId}/projects`, { displayName: server });
  await ask("/v1/connections", {
    ...{ provider: "openai-compatible", secret: "sk-double-1", label: server },
    ...{ endpointUrl, models: `${data[0].id}:1:2`, projectId, environment: "development" },
  });
  const { apiKey } = await ask("/v1/api-keys", { name: server, projectId });
  return { apiKey, model: `openai-compatible/${data[0].id}` };
}

const bootstrapOf = ({ dataDir }: World) => JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8"));

/** A function that sends requests as the installation's first owner, signed in like a browser. */
async function signIn(world: World): Promise<Ask> {
  const { operator, baseUrl: origin } = bootstrapOf(world);
  const cookies = new Map<string, string>();
  const send = async (path: string, init: { body: string; type: string } | null) => {
    const answer = await fetch(new URL(path, world.productUrl), {
      method: init ? "POST" : "GET",
      headers: {
        origin,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(init && { "content-type": init.type }),
      },
      body: init?.body ?? null,
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const text = await answer.text();
    assert.ok(answer.ok, `${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
  const { csrfToken } = await send("/api/auth/csrf", null);
  const form = new URLSearchParams({ ...operator, csrfToken, json: "true" });
  const type = "application/x-www-form-urlencoded";
  const { url } = await send("/api/auth/callback/credentials", { body: form.toString(), type });
  assert.ok(!new URL(url).searchParams.has("error"), "the owner could not sign in");
  return (path, body) => send(path, { body: JSON.stringify(body), type: "application/json" });
}
