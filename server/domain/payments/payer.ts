import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";

type Person = Extract<Ctx["principal"], { kind: "human_session" }>;

/**
 * Only a signed-in person starts or finishes a payment: no key, embed session or internal process can. The
 * caller checks separately what the person may pay.
 */
export function requirePayer({ principal }: Ctx): Person {
  if (principal.kind !== "human_session")
    fail("AuthorizationFailed", "Only a signed-in person can pay. Sign in to the panel.");
  return principal;
}
