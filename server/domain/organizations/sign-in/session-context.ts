import type { SessionContext } from "@/server/contract/session";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { byAuthorized, people } from "@/server/sql/people";

/**
 * The caller's identity and the place where it works. A bound key works in its project; anyone else in the
 * project they name, or the oldest one they may use. AuthorizationFailed for a named project that is not
 * theirs.
 */
export async function sessionContext(ctx: Ctx, projectId?: string): Promise<SessionContext> {
  const { principal } = ctx;
  if (principal.kind !== "service_principal" && principal.kind !== "human_session")
    fail("AuthorizationFailed", `A ${principal.kind} has no session. Sign in or use an API key.`);
  const named = projectId ?? (principal.kind === "service_principal" ? principal.projectId : null);
  const inUse = named ? await access.authorize(ctx, "diagnostics:read", { projectId: named }) : null;
  const organizationIds =
    principal.kind === "service_principal" ? [principal.organizationId] : [...principal.memberships.keys()];
  const project = await people.project.findFirst({
    where: {
      status: "active",
      ...(inUse ? byAuthorized(inUse) : { organizationId: { in: organizationIds } }),
    },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    include: { environments: { where: { status: "active" } } },
  });
  const organization = await people.organization.findFirst({
    where: { id: project ? project.organizationId : { in: organizationIds } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  const slug = principal.kind === "service_principal" ? principal.environment : "development";
  const environment = project?.environments.find((each) => each.slug === slug) ?? null;
  return {
    needsOnboarding: !organization || !project,
    organization: organization && { id: organization.id, displayName: organization.displayName },
    project: project && { id: project.id, displayName: project.displayName, slug: project.slug },
    environment: environment && {
      id: environment.id,
      slug: environment.slug,
      displayName: environment.displayName,
    },
    productId: null,
    identity: await identityOf(),
  };

  async function identityOf(): Promise<SessionContext["identity"]> {
    if (principal.kind === "service_principal") {
      const key = await people.apiKey.findUniqueOrThrow({
        where: { id: principal.id, organizationId: principal.organizationId },
        select: { prefix: true, name: true },
      });
      return { provider: "api_key", account: key.prefix, displayName: key.name, authenticated: true };
    }
    const user = await people.user.findUniqueOrThrow({
      where: { id: principal.id },
      select: { email: true, displayName: true },
    });
    const sessionId = principal.kind === "human_session" ? principal.sessionId : undefined;
    const session = sessionId
      ? await people.session.findUnique({ where: { id: sessionId }, select: { kind: true } })
      : null;
    return {
      provider: session?.kind ?? principal.kind,
      account: user.email,
      displayName: user.displayName,
      authenticated: true,
    };
  }
}
