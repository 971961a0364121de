import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { EventSource } from "eventsource";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { runJob } from "../product";
import { type Row, versionOf, type World } from "../world";

/* A job's events, by three readers of server-sent events. */

const ENDED = "job.receipt_sealed";

type Read = (url: string, headers: Record<string, string>) => Promise<string[]>;

export function rows(world: World): Row[] {
  const headers = { authorization: `Bearer ${world.apiKey}` };
  const row = (client: string, read: Read, more: Row["checks"] = {}): Row => ({
    client,
    version: versionOf(client),
    door: "events",
    checks: {
      async "all events of a job"() {
        const types = await read(`${world.baseUrl}/v1/jobs/${await runJob(world)}/events`, headers);
        assert.ok(types.includes("job.succeeded"), types.join(", "));
        assert.equal(types.at(-1), ENDED);
      },
      async "those after Last-Event-ID"() {
        const url = `${world.baseUrl}/v1/jobs/${await runJob(world)}/events`;
        const all = await read(url, headers);
        const later = await read(url, { ...headers, "last-event-id": "2" });
        assert.deepEqual(later, all.slice(2));
      },
      ...more,
    },
  });
  return [
    row("eventsource", byEventSource, {
      async "is ended by 204 after the last event"() {
        const url = `${world.baseUrl}/v1/jobs/${await runJob(world)}/events`;
        assert.equal(await endOf(sourceOf(url, headers)), 204);
      },
    }),
    row("eventsource-parser", byParser),
    row("@microsoft/fetch-event-source", byFetchEventSource),
  ];
}

/** An EventSource receives only events that it listens to by name. */
const EVENTS = ["queued", "started", "provider_submitted", "succeeded", "receipt_sealed"].map(
  (name) => `job.${name}`,
);

const sourceOf = (url: string, headers: Record<string, string>) =>
  new EventSource(url, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, ...headers } }),
  });

/** The status with which an unclosed EventSource stops reconnecting. */
const endOf = (source: EventSource) =>
  new Promise<number | undefined>((resolve) => {
    source.addEventListener("error", ({ code }) => {
      if (source.readyState === source.CLOSED) resolve(code);
    });
  });

function byEventSource(url: string, headers: Record<string, string>): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const source = sourceOf(url, headers);
    const types: string[] = [];
    for (const type of EVENTS)
      source.addEventListener(type, () => {
        types.push(type);
        if (type !== ENDED) return;
        source.close();
        resolve(types);
      });
    source.addEventListener("error", (event) => {
      source.close();
      reject(new Error(event.message ?? "the stream broke"));
    });
  });
}

async function byParser(url: string, headers: Record<string, string>): Promise<string[]> {
  const answer = await fetch(url, { headers: { ...headers, accept: "text/event-stream" } });
  const types: string[] = [];
  const events = answer.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event } of events) types.push(event ?? "message");
  return types;
}

async function byFetchEventSource(url: string, headers: Record<string, string>): Promise<string[]> {
  const types: string[] = [];
  const { fetchEventSource } = createRequire(import.meta.url)("@microsoft/fetch-event-source"); // its ES module works only in bundlers
  const page = { window: globalThis, document: new EventTarget() };
  Object.assign(globalThis, page); // the library expects a page
  try {
    await fetchEventSource(url, {
      headers,
      openWhenHidden: true,
      onmessage: ({ event }: { event: string }) => event && types.push(event),
      onerror(cause: unknown) {
        throw cause;
      },
    });
    return types;
  } finally {
    for (const name of Object.keys(page)) Reflect.deleteProperty(globalThis, name);
  }
}
