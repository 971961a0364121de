import * as organizations from "@/server/domain/organizations";
import { newId } from "@/server/platform/ids";
import type { Tenant } from "./api";
import { system } from "./tenants";

/** True for an endpoint of organizations, projects or keys. */
export const isOfRooms = (path: string) =>
  /^\/v1\/(organizations|api-keys)/.test(path)
    ? !path.includes("/provider-credentials")
    : path === "/v1/projects/{project_id}" || /\/(environments|approval-rules)$/.test(path);

/** True for the endpoint that a key may call only for itself. */
export const isOfItself = (path: string) => path === "/v1/api-keys/{key_id}/revoke";

export type Rooms = {
  /** A request to one of these endpoints that succeeds; each uses its own key. */
  sample(method: string, path: string): { method: string; target: string; body?: unknown };
  /** The same request for objects that do not exist. */
  absent(method: string, path: string): { method: string; target: string; body?: unknown };
};

const SPARE = 40;

/** An organization with spare keys. */
export async function openRooms(tenant: Tenant): Promise<Rooms> {
  const { organizationId, projectId } = tenant;
  const spares: string[] = [];
  for (let n = 0; n < SPARE; n++) {
    const made = await organizations.createKey(system, {
      name: "spare",
      projectId,
      environment: "development",
    });
    spares.push(made.keyId);
  }
  const bodyOf = (method: string, path: string) => {
    if (path === "/v1/api-keys" && method === "POST") return { name: "made", projectId };
    if (path.endsWith("/rotate")) return { overlapSeconds: 60 };
    if (path.endsWith("/external-actions")) return { externalActions: true };
    if (path.endsWith("/approval-rules") && method === "PUT")
      return { thresholdUsd: null, requireDifferentApprover: false };
    if (method === "PATCH") return { displayName: "One" };
    return method === "POST" && path.endsWith("/projects") ? { displayName: "Another" } : undefined;
  };
  const filled = (method: string, path: string, ids: Record<string, string>) => {
    const body = bodyOf(method, path);
    const target = path.replace(/\{(\w+)_id\}/g, (_, kind) => ids[kind] ?? "");
    return { method, target, ...(body ? { body } : {}) };
  };
  return {
    sample: (method, path) => {
      const key = path.includes("{key_id}") ? spares.pop() : undefined;
      if (path.includes("{key_id}") && !key) throw new Error("no key is left to spare");
      return filled(method, path, { organization: organizationId, project: projectId, key: key ?? "" });
    },
    absent: (method, path) =>
      filled(method, path, {
        organization: newId("organization"),
        project: newId("project"),
        key: newId("key"),
      }),
  };
}
