import type { Capability } from "@/server/capabilities/define";
import { capabilities } from "@/server/capabilities/registry.gen";
import { nearest } from "@/server/domain/envelope";
import { fail } from "@/server/platform/errors/errors";

const byKey = new Map<string, Capability>(capabilities.map((capability) => [capability.key, capability]));

export const allCapabilities: readonly Capability[] = [...byKey.values()].sort((a, b) =>
  a.key.localeCompare(b.key),
);

/** The capability of this key; UNKNOWN_CAPABILITY with the nearest keys otherwise. */
export function getCapability(key: string): Capability {
  const capability = byKey.get(key);
  if (capability) return capability;
  fail("UNKNOWN_CAPABILITY", noCapability(key), { nearestMatches: nearestKeys(key) });
}

export const isCapability = (key: string): boolean => byKey.has(key);

/** Does a model do its work, as its descriptor says? A provider may look something up without one. */
export const isModelBacked = (key: string): boolean => byKey.get(key)?.features.modelBacked !== false;

export const noCapability = (key: string): string => `There is no capability ${key.slice(0, 128)}.`;

/** The keys somebody may have meant who wrote this one. */
export function nearestKeys(key: string): string[] {
  const guess = nearest(key, [...byKey.keys()]);
  const family = key.split(".")[0];
  const related = [...byKey.keys()].filter((other) => other.split(".")[0] === family);
  return [...new Set(guess ? [guess, ...related] : related)].slice(0, 5);
}
