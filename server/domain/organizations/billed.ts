import { access } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";

/**
 * The organization whose money is asked about: that of the key, or the one a person names or alone belongs to. A foreign
 * one and none at all are the same answer. `least` is the role a person must have there; a key's scope is checked before.
 */
export function billedOrganization(ctx: Ctx, named: string | undefined, least: Role): string {
  const { principal } = ctx;
  if (principal.kind === "service_principal") {
    if (named && named !== principal.organizationId) unknownOrganization();
    return principal.organizationId;
  }
  if (!named && principal.kind === "human_session" && principal.memberships.size > 1) {
    fail("InvalidInput", "You belong to several organizations. Name one in organizationId.", {
      field: "organizationId",
      organizationIds: [...principal.memberships.keys()],
    });
  }
  const only = principal.kind === "human_session" ? [...principal.memberships.keys()][0] : undefined;
  const organizationId = named ?? only ?? unknownOrganization();
  access.authorize(ctx, least, { organizationId });
  return organizationId;
}

export function unknownOrganization(): never {
  fail("NotFound", "There is no such organization.");
}
