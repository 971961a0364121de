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
    name: "value-refused-as-a-member",
    file: "server/providers/chat-ports/refused-members.ts",
    find: "isNamed && /^(unsupported|unknown|unrecogni[sz]ed)_(parameter|argument|field)$/",
    replace: "isNamed && /^(unsupported|unknown|invalid)_/",
    caughtBy: "server/providers/chat-ports/refused-members.test.ts",
  },
  {
    name: "member-changed-without-end",
    file: "server/providers/chat-ports/as-taken.ts",
    find: "names.some((name) => name in learned)",
    replace: "names.length > 2",
    caughtBy: "server/providers/chat-ports/as-taken.test.ts",
  },
  {
    name: "learned-member-forgets-others",
    file: "server/domain/connections/request-rules.ts",
    find: "coalesce(request_rules -> $model::text, '{}') || $found::jsonb",
    replace: "$found::jsonb",
    caughtBy: "server/domain/connections/request-rules.db.test.ts",
  },
  {
    name: "named-schema-breaks-older-keys",
    file: "server/domain/jobs/admission/submission.ts",
    find: "isKeyed ? await formerHashOf(snapshot, beside) : null",
    replace: "null",
    caughtBy: "server/domain/jobs/admission/idempotency.db.test.ts",
  },
  {
    name: "heartbeat-ends-an-event",
    file: "server/api/answers/event-stream.ts",
    find: 'export const COMMENT = Buffer.from(":\\n");',
    replace: 'export const COMMENT = Buffer.from(":\\n\\n");',
    caughtBy: "server/api/answers/heartbeats.db.test.ts",
  },
  {
    name: "opaque-members-to-any-maker",
    file: "server/domain/quotes/brought-back.ts",
    find: "const isOwn = tag?.maker === own;",
    replace: "const isOwn = tag !== null;",
    caughtBy: "server/domain/quotes/brought-back.test.ts",
  },
  {
    name: "opaque-members-outside-the-hold",
    file: "server/domain/quotes/tokens.ts",
    find: "...(message.opaque ? [JSON.stringify(message.opaque)] : []),",
    replace: "",
    caughtBy: "server/api/openai/opaque.db.test.ts",
  },
  {
    name: "opaque-members-without-an-end",
    file: "server/domain/quotes/brought-back.ts",
    find: "if (bytes > MOST_OPAQUE_BYTES)",
    replace: "if (bytes > 2 * MOST_OPAQUE_BYTES)",
    caughtBy: "server/domain/quotes/brought-back.test.ts",
  },
];
