import type { Capability } from "@/server/capabilities/define";
import { capabilities } from "@/server/capabilities/registry.gen";
import { nearest } from "@/server/domain/envelope";
import { fail } from "@/server/platform/errors/errors";

const byKey = new Map<string, Capability>(capabilities.map((capability) => [capability.key, capability]));

export const allCapabilities: readonly Capability[] = [...byKey.values()].sort((a, b) =>
  a.key.localeCompare(b.key),
);

/** Returns the capability with this key. Throws `UNKNOWN_CAPABILITY` with the nearest keys for an unknown one. */
export function getCapability(key: string): Capability {
  const capability = byKey.get(key);
  if (capability) return capability;
  fail("UNKNOWN_CAPABILITY", noCapability(key), { nearestMatches: nearestKeys(key) });
}

export const isCapability = (key: string): boolean => byKey.has(key);

/**
 * True if a model does the work, as the descriptor states, and for an unknown key. A provider may look
 * something up without a model.
 */
export const isModelBacked = (key: string): boolean => byKey.get(key)?.features.modelBacked !== false;

export const noCapability = (key: string): string => `There is no capability ${key.slice(0, 128)}.`;

/** Returns up to five keys that the writer of this one may have meant, the likeliest first. */
export function nearestKeys(key: string): string[] {
  const guess = nearest(key, [...byKey.keys()]);
  const family = key.split(".")[0];
  const related = [...byKey.keys()].filter((other) => other.split(".")[0] === family);
  return [...new Set(guess ? [guess, ...related] : related)].slice(0, 5);
}
