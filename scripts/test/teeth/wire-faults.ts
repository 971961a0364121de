import type { Fault } from "./fault";

/** Mistakes in answers that callers of the API rely on. */
export const WIRE_FAULTS: Fault[] = [
  {
    name: "rule-outlives-what-it-misses",
    file: "server/domain/catalog/search/neighbours.ts",
    find: '"transcribe, transcription,',
    replace: '"transcribe, text embedding, transcription,',
    caughtBy: "server/domain/catalog/search/search.db.test.ts",
  },
  {
    name: "own-limit-names-no-route",
    file: "server/domain/quotes/cheapest.ts",
    find: "if (!fits && !isOwnLimit) return refusal;",
    replace: "if (!fits) return refusal;",
    caughtBy: "server/operations/cheapest-route.db.test.ts",
  },
  {
    name: "foreign-project-of-a-query",
    file: "server/domain/access/named-project.ts",
    find: "if (body && query && body !== query)",
    replace: "if (body && query && body === query)",
    caughtBy: "server/operations/statuses/capabilities.db.test.ts",
  },
  {
    name: "ended-stream-never-ends",
    file: "server/domain/jobs/following/events.ts",
    find: "Number(eventId) === last_event",
    replace: "Number(eventId) > last_event",
    caughtBy: "server/domain/jobs/following/follow.db.test.ts",
  },
  {
    name: "heartbeat-ends-an-event",
    file: "server/api/answers/event-stream.ts",
    find: 'export const COMMENT = Buffer.from(":\\n");',
    replace: 'export const COMMENT = Buffer.from(":\\n\\n");',
    caughtBy: "server/api/answers/heartbeats.test.ts",
  },
];
