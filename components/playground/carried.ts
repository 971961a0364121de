import type { Input } from "./schema";

let held: { capabilityKey: string; input: Input } | null = null;

/** Carries an input from one page to the next. Files in it are too long for a URL. */
export function carry(capabilityKey: string, input: Input): void {
  held = { capabilityKey, input };
}

/** The input carried for this capability; none after a reload. */
export function carriedInput(capabilityKey: string): Input | null {
  return held?.capabilityKey === capabilityKey ? held.input : null;
}
