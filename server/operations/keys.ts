import { endpoint } from "@/server/api/endpoint";
import { ApiKeyCreate, KeyList, KeyPath, ListKeys, RotateApiKey } from "@/server/contract/keys";
import { ApiKey, NewApiKey } from "@/server/contract/organizations";
import * as organizations from "@/server/domain/organizations";

const tags = ["API keys"];
const people = ["human_session"] as const;
const PATH = "/v1/api-keys" as const;

export const listApiKeys = endpoint({
  method: "GET",
  path: PATH,
  summary: "List API keys, newest first",
  description:
    "The keys of your organizations and when each was last used. The secret of a key is never returned.",
  tags,
  auth: people,
  query: ListKeys,
  output: KeyList,
  errors: [],
  run: async (ctx, { query }) => {
    const items = await organizations.listKeys(ctx, query);
    return { items, keys: items };
  },
});

export const createApiKey = endpoint({
  method: "POST",
  path: PATH,
  summary: "Create an API key",
  description:
    "Creates a key of a project. For members and above. The key itself is returned only once, in this response. You cannot grant a scope that your own role does not have.",
  tags,
  auth: people,
  body: ApiKeyCreate,
  output: NewApiKey,
  errors: ["NotFound", "InvalidInput", "PlanLimitReached"],
  run: (ctx, { body }) =>
    organizations.createKey(ctx, { ...body, expiresInSeconds: body.expiresInSeconds ?? undefined }),
});

export const deleteApiKey = endpoint({
  method: "DELETE",
  path: `${PATH}/{key_id}`,
  summary: "Revoke an API key",
  description:
    "For members and above. Requests with the key are rejected from the moment you receive the response.",
  tags,
  auth: people,
  params: KeyPath,
  output: ApiKey,
  errors: ["NotFound"],
  run: (ctx, { params }) => organizations.revokeKey(ctx, params.key_id),
});

export const revokeApiKey = endpoint({
  method: "POST",
  path: `${PATH}/{key_id}/revoke`,
  summary: "Revoke an API key, or the calling key itself",
  description:
    "A key can revoke itself, whatever its scopes, but no other key. For people this is the older name of `DELETE /v1/api-keys/{key_id}`.",
  tags,
  auth: ["service_principal", "human_session"],
  params: KeyPath,
  output: ApiKey,
  errors: ["NotFound"],
  run: (ctx, { params }) => organizations.revokeKey(ctx, params.key_id),
});

export const rotateApiKey = endpoint({
  method: "POST",
  path: `${PATH}/{key_id}/rotate`,
  summary: "Rotate an API key",
  description:
    "Creates a key with the same name, project, environment and scopes. If the old key had an expiry, the new one gets the same lifetime. The old key stops working after `overlapSeconds`. A key can be rotated once: a key that was already rotated, revoked or has expired is KeyNotRotatable.",
  tags,
  auth: people,
  params: KeyPath,
  body: RotateApiKey,
  output: NewApiKey,
  errors: ["NotFound", "KeyNotRotatable"],
  run: (ctx, { params, body }) => organizations.rotateKey(ctx, params.key_id, body),
});
