import type { Fact, Result } from "../rig/results";
import type { Plan } from "../rig/rounds";
import type { Part, World } from "../rig/world";

/** What every goal's measurement gets and fills. */
export type Bench = {
  world: World;
  web: Part;
  plan: Plan;
  results: Result[];
  floors: Fact[];
  growth: Fact[];
  nulls: Fact[];
  /** What must hold by itself, beside no peer. */
  limits: Fact[];
  say(line: string): void;
};
