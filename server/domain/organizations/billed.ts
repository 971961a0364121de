import { access } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";

/**
 * The organization that is billed: the key's, or the one that a person names, or else the only one that they
 * belong to. A foreign organization and an unknown one give the same NotFound. `least` is the role that a
 * person must have there; the caller checks a key's scope before.
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
