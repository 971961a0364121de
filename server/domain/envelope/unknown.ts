import type { z } from "zod";
import { fail } from "@/server/platform/errors/errors";

/** The fields that a request takes, by the path of the object that has them: `execution.`; the body's own have "". */
export type Places = Record<string, string[]>;

/**
 * What agents send that know other interfaces, and what it is called here: without case, `_` and `-`. Only names that the
 * request takes are suggested.
 */
const SYNONYMS: Record<string, string[]> = {
  preferredModel: ["model", "modelid", "modelname", "modelpin", "pinmodel", "usemodel", "targetmodel"],
  model: ["modelid", "modelname", "preferredmodel", "modelpin"],
  providerPin: ["provider", "providerid", "providername", "vendor", "pinprovider", "preferredprovider"],
  provider: ["providerpin", "providername", "vendor"],
  maxCostUsd: [
    ...["maxcost", "maxprice", "maxspend", "maxspendusd", "maxusd", "maxbudget", "maxbudgetusd"],
    ...["costlimit", "costlimitusd", "spendlimit", "budgetusd", "budgetlimit", "pricelimit", "costcap"],
  ],
  maximumEstimatedCost: ["ceiling", "limit", "max", "maxcost", "maxcostusd"],
  timeoutSeconds: ["timeout", "timeoutsec", "timeoutsecs", "timeoutms", "deadline", "deadlineseconds", "ttl"],
  budgetEnforcement: ["enforcement", "enforce"],
  autoSelect: ["fallback", "allowfallback", "allowfallbacks", "auto"],
  idempotencyKey: ["requestkey", "clienttoken", "clientrequestid", "dedupekey", "idempotencytoken"],
  quoteId: ["quote"],
  estimateId: ["estimate"],
  billingMode: ["billing", "byok"],
  externalRef: ["reference", "externalid", "externalreference", "clientreferenceid", "userref"],
  tags: ["labels"],
  metadata: ["meta", "annotations"],
  projectId: ["project"],
  retentionRequirement: ["retention"],
  responseSchema: ["outputschema", "jsonschema", "schema"],
  toolSchemas: ["tools", "functions"],
  reasoningIntent: ["reasoning", "reasoningeffort", "effort"],
  input: ["inputs", "params", "parameters", "arguments", "args", "prompt", "messages", "data"],
};

const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "");

/**
 * Refuses the first field that this object of a request does not take, with what was probably meant. `lifted`: what is taken
 * at the root and belongs elsewhere.
 */
export function refuseUnknown(
  fields: Record<string, z.core.util.JSONType>,
  path: string,
  places: Places,
  { lifted = [], supported = places[path] ?? [] }: { lifted?: string[]; supported?: string[] } = {},
) {
  const known = places[path] ?? [];
  for (const name of Object.keys(fields)) {
    if (known.includes(name)) continue;
    const meant = meantBy(name, [...known, ...lifted], Object.values(places).flat());
    const place = known.includes(meant ?? "") ? path : placeOf(meant, places);
    const hint = meant ? `Did you mean ${place}${meant}?` : "Use one of those in supported.";
    fail("UNKNOWN_EXECUTION_FIELD", `${path}${name} is not a field of this request. ${hint}`, {
      path: `${path}${name}`,
      didYouMean: meant,
      didYouMeanPath: meant === null ? null : `${place}${meant}`,
      supported,
      retryable: false,
    });
  }
}

/** A name like it that is taken here; else the same name elsewhere in the request; else what other interfaces call so. */
function meantBy(name: string, here: string[], everywhere: string[]): string | null {
  const likely = nearest(name, here);
  if (likely) return likely;
  const word = plain(name);
  const all = [...here, ...everywhere];
  return (
    all.find((each) => plain(each) === word) ?? all.find((each) => SYNONYMS[each]?.includes(word)) ?? null
  );
}

const placeOf = (name: string | null, places: Places): string =>
  Object.keys(places).find((path) => name !== null && places[path]?.includes(name)) ?? "";

/** The known word within a third of its length of edits, or null. */
export function nearest(word: string, known: string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance <= Math.max(2, Math.floor(name.length / 3)) && (!best || distance < best.distance))
      best = { name, distance };
  }
  return best?.name ?? null;
}

/** Those words, the one that takes the fewest edits first. */
export function byNearness<T>(word: string, known: readonly T[], spellings: (each: T) => string[]): T[] {
  const distances = new Map(
    known.map((each) => [
      each,
      Math.min(...spellings(each).map((name) => editDistance(word.toLowerCase(), name.toLowerCase()))),
    ]),
  );
  return known.toSorted((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0));
}

function editDistance(a: string, b: string): number {
  if (Math.max(a.length, b.length) > 128) return Math.max(a.length, b.length);
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current[column] = Math.min(previous[column]! + 1, current[column - 1]! + 1, substitution);
    }
    previous = current;
  }
  return previous[b.length]!;
}
