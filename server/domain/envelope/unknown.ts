import type { z } from "zod";
import { fail } from "@/server/platform/errors/errors";

/**
 * The fields that a request accepts, by the path of their object, such as `execution.`. The path of the body itself is
 * "".
 */
export type AcceptedFields = Record<string, string[]>;

/**
 * Names from other interfaces that agents send, under our own name for them, without case, `_` and `-`. Only names that
 * the request accepts are suggested.
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
 * Throws `UNKNOWN_EXECUTION_FIELD` for the first field that this object does not accept, with a suggestion. `lifted`
 * lists fields that are accepted at the root and belong elsewhere.
 */
export function refuseUnknown(
  fields: Record<string, z.core.util.JSONType>,
  path: string,
  places: AcceptedFields,
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

/**
 * Looks for a similar name that is accepted here, then for the same name elsewhere in the request, then for a synonym.
 */
function meantBy(name: string, here: string[], everywhere: string[]): string | null {
  const likely = nearest(name, here);
  if (likely) return likely;
  const word = plain(name);
  const all = [...here, ...everywhere];
  return (
    all.find((each) => plain(each) === word) ?? all.find((each) => SYNONYMS[each]?.includes(word)) ?? null
  );
}

const placeOf = (name: string | null, places: AcceptedFields): string =>
  Object.keys(places).find((path) => name !== null && places[path]?.includes(name)) ?? "";

/**
 * Returns the known word with the fewest edits: at most two, or a third of its length if that is more. Returns
 * null if none is that near.
 */
export function nearest(word: string, known: string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance <= Math.max(2, Math.floor(name.length / 3)) && (!best || distance < best.distance))
      best = { name, distance };
  }
  return best?.name ?? null;
}

/** Sorts the words by the fewest edits of any of their spellings. */
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
