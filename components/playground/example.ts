import { isJsonObject } from "@/components/blocks/data/unknown";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import type { Input } from "./schema";

const ARTIFACT_ID = /^art_[0-9a-hjkmnp-tv-z]{26}$/;

/** An example's input. Its artifact ids do not exist, so they are left empty for the reader's own. */
export function exampleInput(capability: CapabilityDescriptor, place: number): Input | null {
  const input = withoutNobodys(capability.examples[place]?.input);
  return isJsonObject(input) ? input : null;
}

/** True if the input is an unchanged example, and so has nothing of the reader's own. */
export function isExample(capability: CapabilityDescriptor, input: Input): boolean {
  const text = JSON.stringify(input);
  return capability.examples.some((_, place) => JSON.stringify(exampleInput(capability, place)) === text);
}

function withoutNobodys(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("art_") && !ARTIFACT_ID.test(value) ? "" : value;
  if (Array.isArray(value)) return value.map(withoutNobodys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutNobodys(each)]));
}
