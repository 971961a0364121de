import { z } from "zod";
import type { JsonObject } from "@/server/contract/common";
import { getCapability } from "@/server/domain/catalog";
import { toBodyIssues } from "@/server/domain/envelope";
import { ValidationFault } from "@/server/platform/errors/errors";

/**
 * Refuses initial or locked inputs that no run could accept: fields that the capability does not have, and
 * values that its schema refuses. Missing fields may still come.
 */
export function checkInputs(capabilityKey: string | null, name: string, inputs: JsonObject): void {
  if (capabilityKey === null) return;
  const parsed = getCapability(capabilityKey).input.safeParse(inputs, { reportInput: true });
  if (parsed.success) return;
  const given = new Set(Object.keys(inputs));
  const issues = parsed.error.issues.filter((issue) =>
    issue.path.length === 0 ? issue.code === "unrecognized_keys" : given.has(String(issue.path[0])),
  );
  if (issues.length === 0) return;
  throw new ValidationFault(toBodyIssues(new z.ZodError(issues), [name]));
}
