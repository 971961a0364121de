import fc from "fast-check";

/*
 * A long test has one implementation in two sizes. The small one is part of `npm test` and always the same; the full one is
 * random, with an optional seed (CAPSTAN_CAMPAIGN=full, CAPSTAN_SEED).
 */

const isFull = process.env.CAPSTAN_CAMPAIGN === "full";
const SEED_OF_SMALL = 815;

const seed = Number(process.env.CAPSTAN_SEED ?? (isFull ? Date.now() % 2 ** 31 : SEED_OF_SMALL));
if (!Number.isSafeInteger(seed)) throw new Error("CAPSTAN_SEED is not a whole number.");
if (isFull) console.log(`campaign: full size, seed ${seed}`);

type Sizes<T> = { small: T; full: T };

/** The value for the size of this run. */
function size<T>({ small, full }: Sizes<T>): T {
  return isFull ? full : small;
}

/** Settings of fast-check for a property: the number of runs, and the seed. */
const runs = (numRuns: Sizes<number>) => ({ seed, numRuns: size(numRuns) });

/**
 * Settings for a campaign that must cover every kind of case. The small one draws several times as many cases as a full one,
 * always the same, and runs only the first of each kind, because drawing is cheap and running is not. The full one runs
 * these, too: a thousand drawn cases miss a rare kind in one run of twenty.
 */
function covering<T>(cases: fc.Arbitrary<T>, kindsOf: (drawn: T) => string[], numRuns: number) {
  const drawn = fc.sample(cases, { seed: SEED_OF_SMALL, numRuns: 5 * numRuns });
  const examples = firstOfEach(drawn, kindsOf).map((each): [T] => [each]);
  return { seed, numRuns: isFull ? numRuns + examples.length : examples.length, examples };
}

/** The items that have a kind which none before them has. */
function firstOfEach<T>(items: readonly T[], kindsOf: (item: T) => string[]): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const fresh = kindsOf(item).filter((kind) => !seen.has(kind));
    for (const kind of fresh) seen.add(kind);
    return fresh.length > 0;
  });
}

/** All items in full size, and the first of each kind in the small one. */
const sample = <T>(items: readonly T[], kindsOf: (item: T) => string[]): T[] =>
  isFull ? [...items] : firstOfEach(items, kindsOf);

/** All items in full size; in the small one a single item, which `place` chooses in turn. */
const inTurn = <T>(items: readonly T[], place: number): T[] =>
  isFull || items.length === 0 ? [...items] : [items[place % items.length]!];

export const campaign = { isFull, seed, size, runs, covering, sample, inTurn };
