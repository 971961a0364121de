import type { Fact, Result } from "../rig/results";
import type { Plan } from "../rig/rounds";
import type { Part, World } from "../rig/world";

/** Every goal's measurement gets this, and fills its lists. */
export type Bench = {
  world: World;
  web: Part;
  plan: Plan;
  results: Result[];
  floors: Fact[];
  growth: Fact[];
  nulls: Fact[];
  /** Absolute limits, which are compared with no peer. */
  limits: Fact[];
  say(line: string): void;
};
