import type { Input } from "./input-form";

let held: { capabilityKey: string; input: Input } | null = null;

/** Takes an input from one page of the panel to the next; files in it are too long for an address. */
export function carry(capabilityKey: string, input: Input): void {
  held = { capabilityKey, input };
}

/** What was taken along for this capability; nothing after the page was loaded anew. */
export function carriedInput(capabilityKey: string): Input | null {
  return held?.capabilityKey === capabilityKey ? held.input : null;
}
