import type { Capability } from "@/server/capabilities/define";
import { firstOffer } from "./describe";
import { offersOf, SANDBOX, type Target, targetsAbleTo } from "./targets";
import type { Viewer } from "./viewer";

/** The models of a capability that a caller can run now, and the one that serves a request that names none. */
export type Reachable = { targets: Target[]; first: Target | null };

/**
 * Returns the models of a capability that these connections reach now, each once, in the order of routing.
 * `first` is null if no request without a model can run.
 */
export function reachableNow(
  capability: Capability,
  { connections, mayLeave }: Pick<Viewer, "connections" | "mayLeave">,
): Reachable {
  const reach = connections ?? [];
  const able = targetsAbleTo(capability, reach);
  const isOpen = ({ provider }: Target) => mayLeave || provider.name === SANDBOX;
  const targets = able.filter((target) => isOpen(target) && offersOf(target, reach).length > 0);
  const first = firstOffer(able, reach);
  return { targets, first: first && isOpen(first) ? first : null };
}
