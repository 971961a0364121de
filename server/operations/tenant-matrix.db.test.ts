import { afterAll, beforeAll, expect, test } from "vitest";
import { DAY_MS } from "@/server/platform/time/units";
import type { Vendor } from "@/server/providers/testing/vendor";
import { campaign } from "@/testing/campaign";
import { makeManagementKey } from "@/testing/management";
import { setSettings } from "@/testing/settings";
import { comparable, leaksIn } from "@/testing/tenant-matrix/answers";
import {
  anonymous,
  type Caller,
  type Estate,
  holderOf,
  openHouse,
  pageOf,
  personOf,
  renew,
  settle,
  twinOf,
} from "@/testing/tenant-matrix/estate";
import { ELSEWHERE, IDS, type Kind, WORDS } from "@/testing/tenant-matrix/kinds";
import {
  type Answer,
  type Operation,
  operations,
  type Part,
  type Sent,
  sampleOf,
} from "@/testing/tenant-matrix/operations";
import { rowsAround } from "@/testing/tenant-matrix/rows";
import { filled, type Place, placesOf } from "@/testing/tenant-matrix/schema";
import { vendorAsOpenAi } from "@/testing/vault";

/*
 * Every place of every request in which an id or a name can occur, from the schemas, for every kind of caller: another
 * tenant's object is answered like one that does not exist, and does not change.
 */

type Cell = { operation: Operation; part: Part; place: Place; kind: Kind };

const baseOf = ({ name }: Operation) => name.split(" of ")[0]!;
const kindOf = (operation: Operation, { name, steps }: Place): Kind | "words" | undefined =>
  ELSEWHERE[`${baseOf(operation)} ${steps.join(".")}`] ??
  ELSEWHERE[`${baseOf(operation)} ${name}`] ??
  (name in IDS ? IDS[name as keyof typeof IDS] : WORDS.has(name) ? "words" : undefined);

const places = operations.flatMap((operation) =>
  (Object.entries(operation.parts) as [Part, NonNullable<Operation["parts"][Part]>][]).flatMap(
    ([part, schema]) =>
      placesOf(schema).map((place) => ({ operation, part, place, kind: kindOf(operation, place) })),
  ),
);
const isNamed = (cell: (typeof places)[number]): cell is Cell =>
  cell.kind !== undefined && cell.kind !== "words";
// All capabilities share the rest of the envelope, so one of them covers it.
const cells = places
  .filter(isNamed)
  .filter(
    ({ operation, place }) =>
      !operation.name.includes(" of ") ||
      place.steps[0] === "input" ||
      operation.name.endsWith(" of text.general.fast.v1"),
  );

test("every text field of a request is known to be an id, a name, or free text", () => {
  expect(places.length).toBeGreaterThan(500);
  const unknown = places.filter(({ kind }) => kind === undefined);
  expect(
    unknown.map(
      ({ operation, part, place }) => `${operation.name} ${part} ${place.steps.join(".")}: ${place.name}`,
    ),
  ).toEqual([]);
});

/** Values of fields for operations that need other values than those in SAID. */
const SAID_OF: Record<string, Record<string, string>> = {
  "POST /v1/embeddings": { model: "text.embed.v1" },
  "POST /v1/audio/speech": { model: "audio.voice.generate.v1" },
};

/** Values of required fields. */
const SAID: Record<string, string> = {
  capability_key: "text.general.fast.v1",
  model: "text.general.fast.v1",
  from: "2026-01-01",
  to: "2026-01-31",
  url: "https://hooks.example/in",
  email: "somebody@example.com",
  provider: "openai",
  secret: "sk-of-this-test-alone",
  expression: "1 + 1",
  expected: "1",
  domain: "example.com",
  tlds: "com",
  until: new Date(Date.now() + DAY_MS).toISOString(),
  preset_key: "small",
  voice_id: "sandbox-voice",
  billing_country: "CA",
  billing_locale: "en-CA",
  environment: "development",
  allowed_origins: "https://host.example",
  source_locale: "en",
  target_locale: "de",
};

let vendor: { vendor: Vendor; close(): Promise<void> };
let mine: Estate;
let sister: Estate;
let theirs: Estate;
let callers: { bound: Caller; unbound: Caller; owner: Caller; page: Caller; others: Caller[] };

beforeAll(async () => {
  vendor = await vendorAsOpenAi();
  setSettings({ JOB_WAIT_SECONDS: 1 }); // no worker runs jobs here
  const [house, other] = [await openHouse(), await openHouse()];
  theirs = await settle(other, other.projectId);
  sister = await settle(house, house.sisterId);
  mine = await settle(house, house.projectId);
  const manager = await makeManagementKey({
    organizationId: house.organizationId,
    projectIds: [house.projectId],
  });
  const elsewhere = await openHouse();
  callers = {
    bound: await holderOf("a key of one project", mine.key),
    unbound: await holderOf("a key of the organization", house.unboundKey),
    owner: house.owner,
    page: await pageOf(mine),
    others: [
      await personOf(house.organizationId, "admin"),
      await personOf(house.organizationId, "member"),
      await personOf(house.organizationId, "viewer"),
      await holderOf("a management key", manager.apiKey),
      { ...elsewhere.owner, name: "a person of neither" },
      anonymous,
    ],
  };
}, 300_000);

afterAll(async () => {
  await vendor.close();
});

const known = (estate: Estate, operation: Operation) => (name: string) =>
  name in IDS && IDS[name as keyof typeof IDS] in estate.ids
    ? estate.ids[IDS[name as keyof typeof IDS] as keyof Estate["ids"]]
    : (SAID_OF[operation.name]?.[name] ?? SAID[name] ?? "word");

/** A request of our own with `value` in this place. A caller with several projects names theirs if that is possible. */
function requestWith({ operation, part, place }: Cell, caller: Caller, value: unknown): Sent {
  const sample = sampleOf(operation.name, mine);
  const made: Sent = {};
  const isBound = caller === callers.bound;
  for (const [each, schema] of Object.entries(operation.parts) as [
    Part,
    NonNullable<Operation["parts"][Part]>,
  ][]) {
    let base: Record<string, unknown> = { ...sample[each] };
    if (each === "params")
      base = {
        ...Object.fromEntries(
          Object.keys(schema.properties ?? {}).map((name) => [name, known(mine, operation)(name)]),
        ),
        ...base,
      };
    const { projectId, context } = schema.properties ?? {};
    if (!isBound && each === "query" && projectId && !operation.parts.body?.properties?.context)
      base.projectId ??= mine.projectId;
    if (!isBound && each === "body" && context) base.context ??= { projectId: mine.projectId };
    const at = each === part ? { steps: place.steps, value } : undefined;
    made[each] = filled(schema, base, known(mine, operation), at) as Record<string, unknown>;
  }
  return made;
}

/** The kinds of ids that an embed session may know, because its bootstrap names them. */
const OPEN_TO_PAGES = new Set<string>(["organization", "project", "environment"]);

const nameOf = ({ operation, part, place }: Cell) => `${operation.name} ${part} ${place.steps.join(".")}`;

async function inLanes<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (const one of rest) await work(one);
    }),
  );
}

test("another tenant's object is answered like a missing one, reveals nothing and does not change", async () => {
  const positions = await cursorsOf(theirs);
  expect(positions.size).toBeGreaterThan(10);
  const around = [theirs.house.organizationId, theirs.projectId, theirs.ids.user, theirs.ids.session];
  const foreign = await rowsAround(around);
  const sisters = await rowsAround([sister.projectId]);
  expect(foreign.texts.length).toBeGreaterThan(100);
  const [ofTheirs, ofSister] = [
    { ids: foreign.ids, marks: [theirs.house.mark] },
    { ids: sisters.ids, marks: [sister.mark] },
  ];
  const besidePage = {
    ids: new Set(Object.entries(mine.ids).flatMap(([kind, id]) => (OPEN_TO_PAGES.has(kind) ? [] : [id]))),
    marks: [mine.mark],
  };
  const findings: string[] = [];
  let asked = 0;

  function note(
    cell: Cell,
    caller: Caller,
    what: string,
    value: string,
    answer: Answer,
    watched: typeof ofTheirs,
  ) {
    asked++;
    const leaked = leaksIn(answer, value, watched);
    const at = `${nameOf(cell)}, ${what}, ${caller.name}`;
    if (leaked.length > 0) findings.push(`${at}: tells ${leaked.join(", ")}`);
    if (answer.status >= 500) findings.push(`${at}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }

  async function compare(
    cell: Cell,
    caller: Caller,
    what: string,
    given: [string, string],
    watched: typeof ofTheirs,
  ) {
    const answers: Answer[] = [];
    for (const value of given) {
      const answer = await cell.operation.send(caller, requestWith(cell, caller, value));
      answers.push(answer);
      note(cell, caller, what, value, answer, watched);
    }
    const [one, other] = [comparable(answers[0]!, given[0]), comparable(answers[1]!, given[1])];
    if (JSON.stringify(one) !== JSON.stringify(other))
      findings.push(
        `${nameOf(cell)}, ${what}, ${caller.name}: ${JSON.stringify(one).slice(0, 700)} but ${JSON.stringify(other).slice(0, 700)}`,
      );
  }

  const everybody = [callers.bound, callers.unbound, callers.owner, callers.page, ...callers.others];
  await inLanes(cells, async (cell) => {
    const { operation, kind } = cell;
    if (kind === "cursor" || kind === "idempotency") return;
    const of = (estate: Estate) => estate.ids[kind];
    const pair = (id: string): [string, string] => [id, twinOf(id)];
    // A caller that may not call the operation is refused before the rest of the request is read, so one place per operation
    // is enough.
    const isFirst = cells.find((each) => each.operation === operation) === cell;
    const asking = everybody.filter(
      (each) => operation.isFor(each) || (isFirst && !operation.name.startsWith("mcp ")),
    );
    // The small campaign tries each place with one caller, in turn.
    const turn = cells.indexOf(cell);
    for (const caller of campaign.inTurn(asking, turn))
      await compare(cell, caller, "another tenant's", pair(of(theirs)), ofTheirs);
    const [one, none] = pair(of(theirs));
    // The small campaign tries the other forms only for every third place.
    if (!campaign.isFull && turn % 3 !== 0) return;
    // The parsing of a text does not depend on its caller, so one caller is enough.
    const reader = [callers.bound, callers.owner].find((each) => operation.isFor(each));
    for (const caller of reader ? [reader] : []) {
      const wrong = kind === "job" ? theirs.ids.artifact : theirs.ids.job;
      const forms: [string, [string, string]][] = [
        ["another tenant's of another kind", pair(wrong)],
        ["cut", [one.slice(0, -1), none.slice(0, -1)]],
        ["in capitals", [one.toUpperCase(), none.toUpperCase()]],
      ];
      for (const [what, given] of campaign.inTurn(forms, turn / 3))
        await compare(cell, caller, what, given, ofTheirs);
    }
    // An embed session treats its own project's other objects like another tenant's.
    if (!OPEN_TO_PAGES.has(kind) && operation.isFor(callers.page))
      await compare(cell, callers.page, "the project's own", pair(of(mine)), besidePage);
    if (of(sister) !== of(mine) && operation.isFor(callers.bound))
      await compare(cell, callers.bound, "the sister project's", pair(of(sister)), ofSister);
  });

  // A cursor of another tenant's list continues in the caller's own list, and another tenant's idempotency key is unused
  // here.
  await inLanes(cells, async (cell) => {
    const { operation, kind } = cell;
    // A destructive operation would end an object of our own, which the rest of the request names.
    if ((kind !== "cursor" && kind !== "idempotency") || operation.isDestructive) return;
    const own = positions.get(operation.name);
    const values =
      kind === "cursor" ? [...(own ? [own] : []), theirs.ids.job, theirs.ids.adapter, "1"] : [theirs.mark];
    for (const caller of [callers.bound, callers.unbound, callers.owner].filter((each) =>
      operation.isFor(each),
    ))
      for (const value of values) {
        const answer = await operation.send(caller, requestWith(cell, caller, value));
        note(cell, caller, kind, value, answer, ofTheirs);
      }
  });
  expect(findings).toEqual([]);
  expect(asked).toBeGreaterThan(campaign.size({ small: 1_000, full: 8_000 }));
  expect((await rowsAround(around)).texts).toEqual(foreign.texts);
  expect((await rowsAround([sister.projectId])).texts).toEqual(sisters.texts);
}, 600_000);

/** The cursors of the second pages of an estate's lists, by operation. */
async function cursorsOf(estate: Estate): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const asking = [await holderOf("a key of theirs", estate.key), estate.house.owner];
  for (const operation of operations) {
    const [part, schema] =
      (Object.entries(operation.parts) as [Part, NonNullable<Operation["parts"][Part]>][]).find(
        ([, { properties = {} }]) => "cursor" in properties,
      ) ?? [];
    const caller = asking.find((each) => operation.isFor(each));
    if (!part || !schema || !caller) continue;
    const params = Object.fromEntries(
      Object.keys(operation.parts.params?.properties ?? {}).map((name) => [
        name,
        known(estate, operation)(name),
      ]),
    );
    const limited = "limit" in (schema.properties ?? {}) ? { limit: 1 } : {};
    const sent = { params, [part]: filled(schema, limited, known(estate, operation)) };
    const { text } = await operation.send(caller, sent);
    const cursor = /"nextCursor":"([^"]+)"/.exec(text)?.[1];
    if (cursor) found.set(operation.name, cursor);
  }
  return found;
}

/** Places whose own and missing objects are answered alike, with the reason. */
const SAME_AS_NONE: Record<string, string> = {
  "POST /v1/panel-sessions body initialInputs": "a file is looked for when something is run on it",
  "POST /v1/panel-sessions body lockedInputs": "likewise",
  "trpc operator.": "of operators alone, to whom every tenant is open",
  "trpc attention.": "of operators alone",
  "trpc budgets.resolveMany body filter.projectId": "a person names the organization, too",
  "trpc notifications.outboxMail": "of operators alone",
  "POST /v1/capabilities/{capability_key}/quote of text.general.fast.v1 body execution.":
    "no quote is made of another",
  "POST /v1/capabilities/{capability_key}/estimate of text.general.fast.v1 body execution.":
    "no quote is made of another",
  "trpc catalog.quote body body.execution.": "no quote is made of another",
  "mcp quote_capability body request.execution.": "no quote is made of another",
  "GET /v1/inference/pinned query bulkId": "a bulk that was canceled before it ran has no executions",
  "trpc pinned.list body bulkId": "a bulk that was canceled before it ran has no executions",
};

test("control: in each of these places our own object is answered differently from a missing one", {
  tags: "long",
  timeout: 300_000,
}, async () => {
  const same: string[] = [];
  const order = ({ operation }: Cell) => (operation.isDestructive ? 1 : 0);
  for (const cell of cells.toSorted((a, b) => order(a) - order(b))) {
    const { operation, kind } = cell;
    if (kind === "cursor" || kind === "idempotency") continue;
    if (operation.isDestructive) await renew(mine, kind);
    const own = mine.ids[kind];
    let isDifferent = false;
    for (const caller of [callers.bound, callers.owner, callers.unbound].filter((each) =>
      operation.isFor(each),
    )) {
      if (isDifferent) break;
      const none = await operation.send(caller, requestWith(cell, caller, twinOf(own)));
      const some = await operation.send(caller, requestWith(cell, caller, own));
      isDifferent = JSON.stringify(comparable(some, own)) !== JSON.stringify(comparable(none, twinOf(own)));
      if (!isDifferent)
        same.push(`${nameOf(cell)}, ${caller.name}: ${some.status} ${some.text.slice(0, 300)}`);
    }
    if (isDifferent) while (same.at(-1)?.startsWith(`${nameOf(cell)},`)) same.pop();
  }
  expect(same.filter((line) => !Object.keys(SAME_AS_NONE).some((name) => line.startsWith(name)))).toEqual([]);
});
