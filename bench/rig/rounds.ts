import { type Spread, spreadOf } from "./statistics";

export type Plan = {
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  /** Runs of each kind of execution; the least count is taken. */
  tries: number;
  /** Samples of each round of the goal "start"; `backlog` is the number of jobs that wait beside them. */
  samples: number;
  backlog: number;
  /** Rounds of the goal "calls"; `calls` is the number of invokes of each. */
  callRounds: number;
  calls: number;
  /** Pause of each connection between two requests, in milliseconds. */
  pauseMs: number;
  /** True if bodies above 1 MiB are sent too. */
  hasLargeBodies: boolean;
  /** A trial only shows that every goal still runs: its figures say nothing about speed. */
  isTrial: boolean;
};

const USUAL = { tries: 7, samples: 60, backlog: 9_900, calls: 300, pauseMs: 0, isTrial: false };
export const PLANS = {
  whole: { ...USUAL, rounds: 5, seconds: 3, callRounds: 9, warmUpSeconds: 20, hasLargeBodies: true },
  quick: { ...USUAL, rounds: 3, seconds: 2, callRounds: 3, warmUpSeconds: 12, hasLargeBodies: false },
  trial: {
    ...{ rounds: 1, seconds: 1, warmUpSeconds: 1, tries: 1, samples: 5, backlog: 40, pauseMs: 200 },
    ...{ callRounds: 1, calls: 12, hasLargeBodies: false, isTrial: true },
  },
} satisfies Record<string, Plan>;

/**
 * Runs every subject in turn, round after round, and returns what each measured, by round. Each round begins with another one
 * (A B C, B C A, …), since a subject may cost more or less by what ran before it.
 */
export async function alternate<Subjects extends Record<string, () => Promise<unknown>>>(
  rounds: number,
  subjects: Subjects,
): Promise<{ [Name in keyof Subjects]: Awaited<ReturnType<Subjects[Name]>>[] }> {
  const measured: Record<string, unknown[]> = {};
  const all = Object.entries(subjects);
  for (let round = 0; round < rounds; round++) {
    const first = round % all.length;
    for (const [name, measure] of [...all.slice(first), ...all.slice(0, first)]) {
      measured[name] ??= [];
      measured[name].push(await measure());
    }
  }
  // The loop above fills it by calling each subject under its own name.
  return measured as { [Name in keyof Subjects]: Awaited<ReturnType<Subjects[Name]>>[] };
}

/** Takes the ratio within each round, then median and quartiles: values of different rounds are never compared. */
export function ratioOf<Sample>(
  ours: Sample[],
  theirs: Sample[],
  figure: (sample: Sample) => number,
): Spread {
  return spreadOf(ours.map((sample, round) => figure(sample) / figure(theirs[round] ?? sample)));
}

export const medianOf = <Sample>(samples: Sample[], figure: (sample: Sample) => number): number =>
  spreadOf(samples.map(figure)).median;
