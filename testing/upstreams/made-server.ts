import type { IncomingMessage } from "node:http";
import { HERE, idOf, type MadeCase } from "./made";
import type { Answer } from "./upstream";

/* The corpus server's part for cases that return no text: requests that submit work, poll it, and fetch its files. */

type Kind = keyof MadeCase["plays"];

export function madePlayer(cases: readonly MadeCase[]) {
  const byName = new Map(cases.flatMap((each) => [each.name, idOf(each.name)].map((name) => [name, each])));
  const counts = new Map<string, number>();

  const caseOf = ({ url = "" }: IncomingMessage, body: string): MadeCase | undefined => {
    const named = /\bcase ([a-z0-9-]+)/.exec(body)?.[1];
    const names = named ? [named] : url.split(/[/?]/);
    return names.map((name) => byName.get(name)).find((found) => found !== undefined);
  };

  return {
    /** Starts a case from its beginning. */
    begin(name: string): void {
      for (const kind of ["submit", "status", "result", "file"]) counts.delete(`${name} ${kind}`);
    },
    /** The number of requests of a case since its start. */
    count: (name: string, kind: Kind) => counts.get(`${name} ${kind}`) ?? 0,
    /** The response to a request that names a case; null if it names none. */
    answer(request: IncomingMessage, body: string, here: string): Answer | null {
      const played = caseOf(request, body);
      if (!played) return null;
      const kind = kindOf(request, played);
      const key = `${played.name} ${kind}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      const plays = [played.plays[kind] ?? []].flat();
      const answer = plays[Math.min(count, plays.length - 1)];
      return answer
        ? withAddress(answer, here)
        : { status: 404, body: { detail: `No ${kind} in this case.` } };
    },
  };
}

function kindOf({ method, url = "" }: IncomingMessage, { plays }: MadeCase): Kind {
  if (method === "POST") return "submit";
  if (url.startsWith("/files/")) return "file";
  // Only some queues return the result at a separate URL.
  return plays.result && !/\/status\b/.test(url) ? "result" : "status";
}

const withAddress = (answer: Answer, here: string): Answer =>
  Array.isArray(answer.body)
    ? answer
    : { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll(HERE, here)) };
