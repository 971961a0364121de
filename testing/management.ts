import type { Endpoint } from "@/server/api/endpoint";
import { KEY_SCOPES, MANAGEMENT_SCOPES, RUN_SCOPES } from "@/server/contract/enums";
import type { CreateManagementKey } from "@/server/contract/management-keys";
import { createManagementKey } from "@/server/domain/management";
import { makePerson } from "./tenants";

/** A management key of every scope that can grant every run scope, created by a new owner of the organization. */
export async function makeManagementKey(
  wanted: Pick<CreateManagementKey, "organizationId" | "projectIds"> & Partial<CreateManagementKey>,
) {
  const owner = await makePerson(wanted.organizationId, "owner");
  const made = await createManagementKey(owner.ctx, {
    name: "setup",
    scopes: [...MANAGEMENT_SCOPES],
    runScopes: [...RUN_SCOPES],
    hosts: ["models.example.com"],
    ceiling: { micros: 1_000_000_000, period: "total" },
    expiresInSeconds: 86_400,
    ...wanted,
  });
  return { ...made, owner };
}

/** True for an endpoint that people and management keys may call, but no other keys. */
export const isManaged = ({ auth, scope, path }: Endpoint) =>
  auth.includes("service_principal") &&
  ((scope && KEY_SCOPES.every((each) => each !== scope)) || path.startsWith("/v1/connections"));
