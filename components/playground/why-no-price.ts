import { toFailure } from "@/components/trpc";
import { labelOf } from "./schema";

export const UNREAD = "The JSON cannot be read yet.";

/** Why there is no price; what is wrong with a field is said at the field, once it was sent. */
export function whyNoPrice(error: unknown): string {
  const { issues, message } = toFailure(error);
  const names = new Set(
    issues.map(({ loc }) => labelOf(String(loc.findLast((step) => typeof step === "string") ?? "input"))),
  );
  return names.size > 0 ? `check ${[...names].join(", ")}.` : message;
}
