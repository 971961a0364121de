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
  summary: "List the keys of your organizations, newest first",
  description: "What they are and when they were last used, never what they are made of.",
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
  summary: "Make a key of a project",
  description:
    "For members and above. The key itself is in this answer and nowhere else. Nobody can give a key a scope that their own role does not carry.",
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
  summary: "Revoke a key",
  description: "For members and above. Once this is answered no request is served by the key.",
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
  summary: "Revoke a key; a key can revoke itself",
  description:
    "A key may revoke itself, whatever its scopes, and no other. For people the older spelling of `DELETE /v1/api-keys/{key_id}`.",
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
  summary: "Make a key in the place of another, which works on for the overlap",
  description:
    "Same name, project, environment and scopes; where the old key had an end, the new one lives as long as that one was given. The old one works for `overlapSeconds` more and no longer. A key is rotated once: KeyNotRotatable afterwards, and for one that is revoked or expired.",
  tags,
  auth: people,
  params: KeyPath,
  body: RotateApiKey,
  output: NewApiKey,
  errors: ["NotFound", "KeyNotRotatable"],
  run: (ctx, { params, body }) => organizations.rotateKey(ctx, params.key_id, body),
});
