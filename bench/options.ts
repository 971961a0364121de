import { parseArgs } from "node:util";
import { type Checkout, findCheckout } from "./rig/checkout";
import type { Need } from "./rig/peers";
import { PLANS } from "./rig/rounds";

/** Lists the goals in the order in which they run, and what each needs on this machine. */
export const NEEDS_OF = {
  calls: ["linux"],
  catalog: ["linux", "wrk", "empty app"],
  counts: ["linux"],
  invoke: ["linux", "wrk", "portkey"],
  start: ["linux"],
  submit: ["linux", "wrk", "pgbench"],
  // This goal is last, because it counts CPU time alone: it may run when the machine is no longer quiet.
  blocking: ["linux"],
} as const satisfies Record<string, readonly Need[]>;
export type Goal = keyof typeof NEEDS_OF;
export const ALL_GOALS = Object.keys(NEEDS_OF) as Goal[]; // its keys are the goals
/** The goals that compare with no other checkout. */
export const USUAL_GOALS = ALL_GOALS.filter((goal) => goal !== "calls");

/** Reads the command's options. Throws when they cannot be read or combined; the message can be printed as it is. */
export function parseOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      trial: { type: "boolean", default: false },
      prepare: { type: "boolean", default: false },
      only: { type: "string", multiple: true },
      against: { type: "string", multiple: true },
      match: { type: "string", multiple: true },
      profile: { type: "string", multiple: true },
      "as-built": { type: "boolean", default: false },
    },
  });
  if (values.quick && values.trial) throw new Error("Give --quick or --trial, not both.");
  const goals = goalsOf(once("only", values.only));
  const against = checkoutOf(once("against", values.against), goals);
  const match = once("match", values.match);
  if (match !== undefined && goals?.join() !== "blocking")
    throw new Error("--match chooses routes of --only blocking; give both.");
  return {
    goals: goals ?? (against ? ALL_GOALS : USUAL_GOALS),
    isWhole: goals === null,
    against,
    match,
    profile: once("profile", values.profile),
    plan: PLANS[values.trial ? "trial" : values.quick ? "quick" : "whole"],
    isQuick: values.quick,
    isAsBuilt: values["as-built"],
    onlyPrepares: values.prepare,
  };
}

/** Reads the options of this process, and ends it with exit code 2 when they cannot be read or combined. */
export function readOptions() {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error((error as Error).message); // parseOptions and parseArgs throw errors only
    process.exit(2);
  }
}

function goalsOf(only: string | undefined): Goal[] | null {
  if (only === undefined) return null;
  const named = only.split(",");
  const isGoal = (name: string): name is Goal => Object.hasOwn(NEEDS_OF, name);
  if (!named.every(isGoal) || new Set(named).size < named.length)
    throw new Error(`--only takes some of ${ALL_GOALS.join(", ")}, each once and separated by commas.`);
  return ALL_GOALS.filter((goal) => named.includes(goal));
}

/** The checkout for the goal `calls` to compare with; null if that goal is not measured. */
function checkoutOf(folder: string | undefined, goals: Goal[] | null): Checkout | null {
  if (folder === undefined) {
    if (goals?.includes("calls"))
      throw new Error("Give --only calls the checkout to compare with: --against DIR.");
    return null;
  }
  if (goals && !goals.includes("calls"))
    throw new Error("--against names the checkout that calls compares with; give both or neither.");
  return findCheckout(folder);
}

function once(name: string, values: string[] | undefined): string | undefined {
  if (values === undefined) return undefined;
  const [value = ""] = values;
  if (values.length > 1 || value === "") throw new Error(`Give --${name} once, with a value.`);
  return value;
}
