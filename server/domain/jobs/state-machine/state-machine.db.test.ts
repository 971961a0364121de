import fc from "fast-check";
import { expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import {
  APPROVAL_MS,
  look,
  type Model,
  makeWorld,
  QUEUE_MS,
  type Real,
  SECOND_MS,
  type Step,
} from "./model.fixture";
import { cancel, decide, operate, pass, retry, sweep } from "./others.fixture";
import { bringToEnd, checkRecord } from "./record.fixture";
import { begin, claim, deliverAgain, gate, keep, putAside, store, work } from "./workers.fixture";

/*
 * Random sequences of steps by workers, clients, operators, the clock and crashes run against one job, on the
 * real database and the real sandbox. A small model predicts the status after each step, and the job's record
 * must stay consistent whatever happens. A crash is a worker that stops between two of its writes: the steps
 * of a worker are separate here, so a sequence that leaves one out is a crash there.
 */

const MODELS = [
  "sandbox-1",
  "sandbox-refuse",
  "sandbox-busy",
  "sandbox-lost",
  "sandbox-empty",
  "sandbox-fail",
];

/**
 * Runs two steps at the same moment. The record must stay consistent whichever is first, and the model then
 * reads the result.
 */
const meet = (one: Step, other: Step): Step => ({
  name: `${one.name} while ${other.name}`,
  async run(model, real) {
    const blind = (step: Step) => unexpecting(step.run({ ...model }, real));
    await Promise.all([blind(one), blind(other)]);
    await look(model, real);
  },
});

/** Ignores the failed expectations of a single step in a race, but not other errors. */
async function unexpecting(work: Promise<void>): Promise<void> {
  await work.catch((cause) => {
    if ((cause as Error).name !== "AssertionError") throw cause;
  });
}

/** The kinds of steps that ran, so that the small campaign can be required to include each. */
const done = new Set<string>();

class Command implements fc.AsyncCommand<Model, Real> {
  constructor(readonly step: Step) {}
  check = (model: Readonly<Model>) => this.step.isThinkable?.(model) ?? true;
  async run(model: Model, real: Real) {
    await this.step.run(model, real);
    await checkRecord(model, real);
    done.add(this.step.name.includes(" while ") ? "two at once" : this.step.name);
  }
  toString = () => this.step.name;
}

const worker = [deliverAgain(0), begin(0), keep(0), store(0), putAside(0), gate(0), work(0)];
/** Steps of workers that lost the job and have not noticed. */
const stale = [deliverAgain(1), begin(1), keep(1), store(1), putAside(1), gate(1), work(1)];
const others = [
  cancel,
  decide("approve"),
  decide("reject"),
  retry,
  operate("retryStep", "running"),
  operate("acceptAsIs", "succeeded"),
  operate("failWaiting", "failed"),
  sweep,
];
const clock = [
  pass(SECOND_MS),
  pass(60 * SECOND_MS),
  pass(QUEUE_MS + SECOND_MS),
  pass(APPROVAL_MS + SECOND_MS),
];
const racers = [
  claim,
  deliverAgain(0),
  work(0),
  cancel,
  decide("approve"),
  decide("reject"),
  sweep,
  operate("acceptAsIs", "succeeded"),
];

const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant(claim) },
  { weight: 4, arbitrary: fc.constantFrom(...worker) },
  { weight: 3, arbitrary: fc.constantFrom(...stale) },
  { weight: 3, arbitrary: fc.constantFrom(...others) },
  { weight: 2, arbitrary: fc.constantFrom(...clock) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...racers), fc.constantFrom(...racers)).map(([a, b]) => meet(a, b)),
  },
);

/** How far a job gets before random steps begin; random steps alone seldom get this far. */
const BEGINNINGS: Record<string, Step[]> = {
  "just submitted": [],
  "submission begun": [claim, begin(0)],
  "handle kept": [claim, begin(0), keep(0)],
  "handle kept and taken over": [claim, begin(0), keep(0), pass(60 * SECOND_MS), claim],
  "claim delivered again": [claim, deliverAgain(0)],
  "submission begun and claim delivered again": [claim, begin(0), deliverAgain(0)],
  "requeued and taken over": [claim, pass(60 * SECOND_MS), sweep, claim],
  "paused with a handle": [claim, begin(0), keep(0), gate(0)],
  "before an operator": [claim, begin(0), putAside(0)],
};

test("no sequence of steps makes an illegal move, ends a job twice or loses its money", async () => {
  const story = fc.tuple(
    fc.constantFrom(...MODELS),
    fc.boolean(),
    fc.constantFrom(...Object.keys(BEGINNINGS)),
    fc.commands([step.map((each) => new Command(each))], { maxCommands: 24, size: "max" }),
  );
  await fc.assert(
    fc.asyncProperty(story, async ([model, isWaiting, beginning, commands]) => {
      const world = await makeWorld(model, isWaiting);
      for (const each of BEGINNINGS[beginning] ?? []) {
        if (each.isThinkable && !each.isThinkable(world.model)) continue;
        await each.run(world.model, world.real);
        await checkRecord(world.model, world.real);
      }
      await fc.asyncModelRun(() => world, commands);
      await bringToEnd(world.model, world.real);
      for (const kind of [model, beginning, isWaiting ? "awaits approval" : "queued at once"]) done.add(kind);
    }),
    {
      ...campaign.runs({ small: 20, full: 1_000 }),
      endOnFailure: false,
      interruptAfterTimeLimit: campaign.size({ small: 240_000, full: 1_200_000 }),
      markInterruptAsFailure: false,
    },
  );
  const kinds = [...MODELS, ...Object.keys(BEGINNINGS), "awaits approval", "queued at once", "two at once"];
  const steps = [claim, ...worker, ...stale, ...others, ...clock].map(({ name }) => name);
  expect([...kinds, ...steps].filter((kind) => !done.has(kind))).toEqual([]);
}, 1_300_000);
