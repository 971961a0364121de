import { randomUUID } from "node:crypto";
import type { Scope } from "@/server/domain/ctx";
import { type Ctx, type Principal, systemCtx } from "@/server/domain/ctx";
import { createKey, createOrganization, createProject, createUser } from "@/server/domain/organizations";
import { personOf } from "./sessions";
import { fund } from "./world";

export const system = systemCtx("test");

/** A new organization for a test, with one project and a key bound to it. */
export async function makeTenant({
  walletMicros = 1_000_000_000,
  ...options
}: {
  scopes?: Scope[];
  expiresInSeconds?: number;
  walletMicros?: number;
} = {}) {
  const { organizationId } = await createOrganization(system, { name: "Test" });
  await fund(organizationId, walletMicros);
  const { projectId } = await createProject(system, { organizationId, name: "Test" });
  const bound = await createKey(system, { name: "bound", projectId, environment: "development", ...options });
  return { organizationId, projectId, apiKey: bound.apiKey, keyId: bound.keyId };
}

/** A key of every project of an organization. */
export async function makeUnboundKey(organizationId: string, scopes?: Scope[]) {
  return createKey(system, { name: "unbound", organizationId, environment: "development", scopes });
}

/** A person of an organization, with a context for their requests. */
export async function makePerson(organizationId: string, role: "owner" | "admin" | "member" | "viewer") {
  const password = "correct horse battery";
  const email = `${randomUUID()}@example.com`;
  const { userId } = await createUser(system, { email, organizationId, role, password });
  return { userId, email, password, ctx: ctxOf(await personOf(userId)) };
}

/** The context of a request by this principal. */
export function ctxOf(principal: Principal): Ctx {
  return { ...system, principal };
}
