import type { Slice } from "../programs/meter";
import type { Operation } from "./blocking-operations";
import { type Inflated, inflated } from "./inflate";

/*
 * Chooses which bodies go to which routes, so that the goal of blocking ends within minutes. Operations with the same schema form
 * a group. The first operation of a group is tried with every body up to 1 MiB, the others with the worst of these. The first
 * operation of a group, and of a route, is also tried with the worst bodies in the largest size that it accepts.
 */

const MEGABYTE = 1024 * 1024;
/** Bytes left below the limit for the text around what is inflated. */
const MARGIN = 8 * 1024;
/** Longest slice of the event loop, in milliseconds of its thread's CPU time, for bodies up to 1 MiB and for larger ones. */
export const LIMITS = { small: 25, large: 200 };
/**
 * Most tries of a body whose slice is above the limit. The best try counts: if the product itself blocks the loop, it does so in
 * every try.
 */
const TRIES = 4;
/** How many bodies the other operations of a group get: the worst ones of its first operation, each of another shape. */
const WORST = 8;
/** The same for bodies of the largest size that an operation accepts; the first operation gets these too. */
const WORST_LARGE = 4;

type Tried = Slice & { status: number; tookMs: number };
export type Row = Tried & { operation: string; what: string; bytes: number; tries: number };
type Measure = (operation: Operation, what: string, value: unknown) => Promise<Row>;

export const isSmall = ({ bytes }: Pick<Row, "bytes">) => bytes <= MEGABYTE;
const limitOf = (row: Row) => (isSmall(row) ? LIMITS.small : LIMITS.large);
export const isOver = (row: Row) => row.cpuMs > limitOf(row);
const worstFirst = (rows: Row[]) => rows.toSorted((a, b) => b.cpuMs - a.cpuMs);
export const worstOf = (rows: Row[]): Row | undefined => worstFirst(rows)[0];
export const line = (row: Row) =>
  `${row.cpuMs.toFixed(0)} ms in the best of ${row.tries} (${row.wallMs.toFixed(0)} ms by the clock, answered ${row.status} in ${row.tookMs.toFixed(0)} ms, ${(row.bytes / MEGABYTE).toFixed(1)} MiB): ${row.what}`;

/** Tries a body until its slice is within the limit, at most `TRIES` times, and returns the best try. */
export async function measureUntilWithin(
  about: Pick<Row, "operation" | "what" | "bytes">,
  tryOnce: () => Promise<Tried>,
): Promise<Row> {
  let best: Row = { ...about, ...(await tryOnce()), tries: 1 };
  for (let tries = 2; tries <= TRIES && isOver(best); tries++) {
    const again = await tryOnce();
    best = { ...best, ...(again.cpuMs < best.cpuMs ? again : {}), tries };
  }
  return best;
}

/** Ends of paths, sorted by how much their operations do before they answer, the least first. */
const VERBS = ["/quote", "/jobs", "/invoke"];

type Options = { isWhole: boolean; hasLargeBodies: boolean; say(line: string): void };

/** Sends bodies to these operations. `isWhole`: every body to each of them. */
export async function survey(operations: Operation[], measure: Measure, options: Options): Promise<Row[]> {
  const rows: Row[] = [];
  const grown = new Set<string>();
  for (const group of groupsOf(operations)) {
    let first: Row[] | undefined;
    for (const [operation, base] of await firstAccepted(group, measure)) {
      const own = [base];
      for (const body of bodiesOf(operation, options.isWhole ? undefined : first))
        own.push(await measure(operation, whatOf(body), body.make()));
      const isKnown = first !== undefined && grown.has(operation.route);
      first ??= own;
      if (options.hasLargeBodies && operation.limit > MEGABYTE && (options.isWhole || !isKnown)) {
        grown.add(operation.route);
        own.push(...(await grow(operation, measure, options.isWhole ? undefined : first)));
      }
      tell(operation, own, options.say);
      rows.push(...own);
    }
  }
  return rows;
}

/** The operations with the row of their base body; those that accept it come first, since a refusal may come before the work. */
async function firstAccepted(group: Operation[], measure: Measure): Promise<[Operation, Row][]> {
  const pairs: [Operation, Row][] = [];
  for (const operation of group)
    pairs.push([operation, await measure(operation, "as it is", operation.base)]);
  const isRefused = ([, { status }]: [Operation, Row]) => Number(status >= 400);
  return pairs.toSorted((a, b) => isRefused(a) - isRefused(b));
}

/** Lists every body up to 1 MiB, or those that were worst when the first operation of the group was tried. */
function bodiesOf(operation: Operation, first: Row[] | undefined): Inflated[] {
  const all = [...inflated(operation.schema, operation.base, MEGABYTE - MARGIN)];
  return first ? asIn(shapesOf(first).slice(0, WORST), all) : all;
}

/** Tries bodies as large as the operation accepts: all, or some of those that were worst when they were small. */
async function grow(operation: Operation, measure: Measure, small: Row[] | undefined): Promise<Row[]> {
  const all = [...inflated(operation.schema, operation.base, operation.limit - MARGIN)];
  const rows: Row[] = [];
  const shapes = new Set<string>();
  for (const body of small ? asIn(worstFirst(small), all) : all) {
    if (small && (shapes.size === WORST_LARGE || shapes.has(body.how))) continue;
    const value = body.make();
    if (operation.toBody(value).length <= MEGABYTE) continue; // it was tried
    shapes.add(body.how);
    rows.push(await measure(operation, whatOf(body), value));
  }
  return rows;
}

const whatOf = ({ where, how }: Inflated) => `${where}: ${how}`;
const howOf = ({ what }: Row) => what.slice(what.lastIndexOf(": ") + 2);

/** Returns the worst row of each shape, the worst first. */
function shapesOf(rows: Row[]): Row[] {
  const found = new Map<string, Row>();
  for (const row of worstFirst(rows.slice(1))) if (!found.has(howOf(row))) found.set(howOf(row), row);
  return [...found.values()];
}

const asIn = (rows: Row[], all: Inflated[]): Inflated[] =>
  rows.flatMap(({ what }) => all.filter((body) => whatOf(body) === what));

/** Groups of operations with the same schema; the operation that does the most before it answers comes first. */
function groupsOf(operations: Operation[]): Operation[][] {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const key = JSON.stringify(operation.schema);
    groups.set(key, [...(groups.get(key) ?? []), operation]);
  }
  const place = ({ path }: Operation) => VERBS.findLastIndex((verb) => path.endsWith(verb));
  return [...groups.values()].map((group) => group.toSorted((a, b) => place(b) - place(a)));
}

function tell(operation: Operation, own: Row[], say: Options["say"]): void {
  const worst = [own.filter(isSmall), own.filter((row) => !isSmall(row))].flatMap(
    (some) => worstOf(some) ?? [],
  );
  const worsts = worst.map(
    (row) => `${isSmall(row) ? "≤" : ">"} 1 MiB ${row.cpuMs.toFixed(0)} ms (${row.what}, ${row.status})`,
  );
  say(`blocking: ${operation.name} (${own[0]?.status}), ${own.length} bodies: ${worsts.join("; ")}`);
  for (const row of own.filter(isOver)) say(`  OVER ${line(row)}`);
}
