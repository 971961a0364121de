import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";

/** Is the caller the system or a platform operator, who may do everything here? */
export function isOperator({ principal }: Ctx): boolean {
  return principal.kind === "system" || (principal.kind === "human_session" && principal.isOperator);
}

export function requireOperator(ctx: Ctx): void {
  if (!isOperator(ctx))
    fail("AuthorizationFailed", "Only an operator of this installation can do this. Ask your operator.");
}
