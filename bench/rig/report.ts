import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { type Fact, type Result, verdictOf } from "./results";

export type Outcome = {
  results: Result[];
  floors: Fact[];
  growth: Fact[];
  nulls: Fact[];
  limits: Fact[];
  /** Goals that could not be measured, each with the reason. */
  failures: { goal: string; why: string }[];
  machine: string[];
};

const DOCUMENT = "docs/operate/capacity.md";
const BEGIN = "<!-- written by npm run bench: begin -->";
const END = "<!-- written by npm run bench: end -->";

/** Lists what a reader must know about the machine and the versions. */
export function machineFacts(postgresVersion: string, rounds: string): string[] {
  const model = cpus()[0]?.model.trim() ?? "unknown";
  return [
    `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, commit ${commit()}`,
    `${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`,
    `Node ${process.version}, PostgreSQL ${postgresVersion} (fsync on), subject on core 1, load and upstream on core 0`,
    rounds,
  ];
}

/** The commit of a checkout, and whether its code differs from it; "unknown" if Git cannot report it. */
export function commit(cwd = "."): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
  try {
    const hash = git("rev-parse", "--short", "HEAD");
    const isClean = git("status", "--porcelain", "--", "server", "inngest", "bench") === "";
    return isClean ? hash : `${hash} with changes`;
  } catch {
    return "unknown";
  }
}

/** True if the run is valid, every goal was measured, and every gate and limit held. */
export const isHeld = (outcome: Outcome) =>
  isValid(outcome) &&
  outcome.failures.length === 0 &&
  outcome.limits.every((fact) => fact.holds !== false) &&
  outcome.results.every((result) => ["held", "goal met"].includes(verdictOf(result)));

const isValid = (outcome: Outcome) => outcome.nulls.every((fact) => fact.holds !== false);
const number = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
const limit = (result: Result, value: number | null) =>
  value === null ? "" : `${result.bound === "most" ? "≤" : "≥"} ${value}`;
const holds = (fact: Fact) => (fact.holds === undefined ? "" : fact.holds ? "yes" : "**no**");

/** Writes the whole outcome in Markdown. */
export function toMarkdown(outcome: Outcome): string {
  const lines = [...outcome.machine.map((line) => `- ${line}`), ""];
  if (!isValid(outcome))
    lines.push("**A null test does not hold: the machine was not quiet, and this run is void.**", "");
  if (outcome.results.length > 0)
    lines.push(
      "| Goal | Ratio | Median (quartiles) | Gate | Goal | Ours | Peer | Verdict |",
      "|---|---|---|---|---|---|---|---|",
    );
  for (const result of outcome.results) {
    const { median, low, high } = result.ratio;
    lines.push(
      `| ${result.goal} | ${result.what} | ${number(median)} (${number(low)} to ${number(high)}) | ${limit(result, result.gate)} | ${limit(result, result.aim)} | ${result.ours} | ${result.peer} | ${verdictOf(result)} |`,
    );
  }
  for (const [title, facts] of [
    ["Null tests: ours ÷ ours", outcome.nulls],
    ["Longest slice of the event loop while a body is worked on", outcome.limits],
    ["Growth", outcome.growth],
    ["Floors and counts", outcome.floors],
  ] as const) {
    if (facts.length === 0) continue;
    lines.push("", `| ${title} | | Holds |`, "|---|---|---|");
    for (const fact of facts) lines.push(`| ${fact.what} | ${fact.value} | ${holds(fact)} |`);
  }
  for (const { goal, why } of outcome.failures) lines.push("", `**Not measured: ${goal}.** ${why}`);
  const misses = [...new Set(outcome.results.flatMap((result) => result.misses))];
  if (misses.length > 0) lines.push("", "Missing, so the numbers they belong to are void:", "");
  for (const miss of misses.slice(0, 20)) lines.push(`- ${miss}`);
  return lines.join("\n");
}

/**
 * Says why a trial has not shown that a goal still runs: the goal could not be measured, or measured nothing. A trial's figures
 * come from one second beside other tests, so none of them is a fault.
 */
export const faultsOf = ({
  results,
  floors,
  limits,
  growth,
  failures,
}: Omit<Outcome, "machine">): string[] => [
  ...failures.map(({ why }) => why),
  ...(results.length + floors.length + growth.length + limits.length + failures.length === 0
    ? ["it has no result"]
    : []),
];

/**
 * Puts the table into the document, in place of the table of the last run. Throws when the document has lost the marks around it.
 */
export function writeTable(markdown: string): void {
  const document = readFileSync(DOCUMENT, "utf8");
  const [head, rest] = document.split(BEGIN);
  const tail = rest?.split(END)[1];
  if (head === undefined || tail === undefined)
    throw new Error(`${DOCUMENT} has lost the marks of its table`);
  writeFileSync(DOCUMENT, `${head}${BEGIN}\n\n${markdown}\n\n${END}${tail}`);
}
