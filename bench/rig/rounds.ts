import { type Spread, spreadOf } from "./statistics";

export type Plan = { rounds: number; seconds: number; warmUpSeconds: number };

/** Runs every subject in turn, round after round (A B A B …), and returns what each measured, by round. */
export async function alternate<Subjects extends Record<string, () => Promise<unknown>>>(
  rounds: number,
  subjects: Subjects,
): Promise<{ [Name in keyof Subjects]: Awaited<ReturnType<Subjects[Name]>>[] }> {
  const measured: Record<string, unknown[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(subjects)) {
      measured[name] ??= [];
      measured[name].push(await measure());
    }
  }
  // Filled above by calling each subject under its own name.
  return measured as { [Name in keyof Subjects]: Awaited<ReturnType<Subjects[Name]>>[] };
}

/** The ratio of each round, as median and quartiles: never one run against another. */
export function ratioOf<Sample>(
  ours: Sample[],
  theirs: Sample[],
  figure: (sample: Sample) => number,
): Spread {
  return spreadOf(ours.map((sample, round) => figure(sample) / figure(theirs[round] ?? sample)));
}

export const medianOf = <Sample>(samples: Sample[], figure: (sample: Sample) => number): number =>
  spreadOf(samples.map(figure)).median;
