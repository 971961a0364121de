import { ApiKeyCreate, KeyList, ListKeys, RotateApiKey } from "@/server/contract/keys";
import { ApiKey, NewApiKey } from "@/server/contract/organizations";
import * as organizations from "@/server/domain/organizations";
import { byKeysAndPeople, operations } from "./define";

const manage = operations("API keys", byKeysAndPeople("keys:write"));
const own = operations("API keys", { auth: ["service_principal", "human_session"] });

export const listApiKeys = manage.get("/v1/api-keys", {
  summary: "List API keys, newest first",
  description:
    "The keys of your organizations and when each was last used; to a management key, the keys that it created. The secret of a key is never returned.",
  query: ListKeys,
  output: KeyList,
  run: async (ctx, { query }) => {
    const items = await organizations.listKeys(ctx, query);
    return { items, keys: items };
  },
});

export const createApiKey = manage.post("/v1/api-keys", {
  summary: "Create an API key",
  description:
    "Creates a key of a project. For members and above. The key itself is returned only once, in this response. You cannot grant a scope that your own role does not have. A key that a management key creates has the scopes and projects that its owner allowed, and ends with it.",
  body: ApiKeyCreate,
  example: { name: "Agent", projectId: "cpr_01jd0000000000000000000000", expiresInSeconds: 2_592_000 },
  output: NewApiKey,
  errors: ["NotFound", "InvalidInput", "PlanLimitReached"],
  run: (ctx, { body }) =>
    organizations.createKey(ctx, { ...body, expiresInSeconds: body.expiresInSeconds ?? undefined }),
});

export const deleteApiKey = manage.delete("/v1/api-keys/{key_id}", {
  summary: "Revoke an API key",
  description:
    "For members and above. Requests with the key, and with keys that it created, are rejected from the moment you receive the response.",
  output: ApiKey,
  run: (ctx, { key_id }) => organizations.revokeKey(ctx, key_id),
});

export const revokeApiKey = own.post("/v1/api-keys/{key_id}/revoke", {
  summary: "Revoke an API key, or the calling key itself",
  description:
    "A key can revoke itself, whatever its scopes, but no other key. For people this is the older name of `DELETE /v1/api-keys/{key_id}`.",
  output: ApiKey,
  run: (ctx, { key_id }) => organizations.revokeKey(ctx, key_id),
});

export const rotateApiKey = manage.post("/v1/api-keys/{key_id}/rotate", {
  summary: "Rotate an API key",
  description:
    "Creates a key with the same name, project, environment and scopes. If the old key had an expiry, the new one gets the same lifetime. The old key stops working after `overlapSeconds`. A key can be rotated once: a key that was already rotated, revoked or has expired is KeyNotRotatable.",
  body: RotateApiKey,
  example: { overlapSeconds: 3_600 },
  output: NewApiKey,
  errors: ["KeyNotRotatable"],
  run: (ctx, { key_id, body }) => organizations.rotateKey(ctx, key_id, body),
});
