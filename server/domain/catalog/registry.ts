import type { Capability } from "@/server/capabilities/define";
import { capabilities } from "@/server/capabilities/registry.gen";
import { nearest } from "@/server/domain/envelope";
import { fail } from "@/server/errors";

const byKey = new Map<string, Capability>(capabilities.map((capability) => [capability.key, capability]));

export const allCapabilities: readonly Capability[] = [...byKey.values()].sort((a, b) =>
  a.key.localeCompare(b.key),
);

/** The capability of this key; UNKNOWN_CAPABILITY with the nearest keys otherwise. */
export function getCapability(key: string): Capability {
  const capability = byKey.get(key);
  if (capability) return capability;
  const guess = nearest(key, [...byKey.keys()]);
  const family = key.split(".")[0];
  const related = [...byKey.keys()].filter((other) => other.split(".")[0] === family);
  fail("UNKNOWN_CAPABILITY", `There is no capability ${key.slice(0, 128)}.`, {
    nearestMatches: [...new Set(guess ? [guess, ...related] : related)].slice(0, 5),
  });
}
