import { toFailure } from "@/components/trpc";
import { labelOf } from "./schema";

export const UNREAD = "The JSON is not valid yet.";

/** Why there is no price. Field errors appear at the fields after submitting. */
export function whyNoPrice(error: unknown): string {
  const { issues, message } = toFailure(error);
  const names = new Set(
    issues.map(({ loc }) => labelOf(String(loc.findLast((step) => typeof step === "string") ?? "input"))),
  );
  return names.size > 0 ? `check ${[...names].join(", ")}.` : message;
}
