import { existsSync, readFileSync } from "node:fs";
import { type Answer, type Dialect, DONE, event, stream, type UpstreamCase } from "./upstream";

/*
 * Answers that client libraries publish with their tests. fixtures/README.md lists the source of each and how it was
 * shortened.
 */

const fileOf = (name: string) => new URL(`fixtures/${name}`, import.meta.url);

function wholeOf(name: string): Answer | null {
  const file = fileOf(`${name}.json`);
  return existsSync(file) ? { body: JSON.parse(readFileSync(file, "utf8")) } : null;
}

/** One event per line. Only the Responses and Messages APIs name their events, and only chat completions end with `[DONE]`. */
function streamOf(name: string, dialect: Dialect): Answer | null {
  const file = fileOf(`${name}.jsonl`);
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const isNamed = dialect === "responses" || dialect === "messages";
  const events = lines.map((line) => event(line, isNamed ? JSON.parse(line).type : undefined));
  return stream(...events, ...(dialect === "chat" ? [DONE] : []));
}

type Expectations = Omit<UpstreamCase, "name" | "from" | "dialect" | "streamed"> & {
  /** The package and version that publishes the recording. */
  from: string;
};

/** Cases whose answers are the files of the same names. */
export const recordings = (dialect: Dialect, cases: Record<string, Expectations>): readonly UpstreamCase[] =>
  Object.entries(cases).map(([name, { from, ...expectations }]) => {
    const whole = wholeOf(name);
    const streamed = streamOf(name, dialect);
    return {
      name: `recorded-${name}`,
      from: [from],
      dialect,
      ...(whole ? { whole } : {}),
      ...(streamed ? { streamed } : {}),
      ...expectations,
    };
  });

/** Function tools with these names, as a request offers them. */
export const offering = (...names: string[]) => ({
  tools: names.map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } })),
});
