import { z } from "zod";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { queryFlag } from "./common";
import { ApiKey, CreateApiKey } from "./organizations";

const Id = z.string().min(1).max(64);

export const ApiKeyCreate = z
  .strictObject({
    name: CreateApiKey.shape.name,
    projectId: Id,
    environment: CreateApiKey.shape.environment,
    expiresInSeconds: CreateApiKey.shape.expiresInSeconds.nullish(),
    scopes: CreateApiKey.shape.scopes.meta({
      description: "Defaults to the standard set. You can grant only scopes that your own role has.",
    }),
  })
  .meta({ id: "ApiKeyCreate" });

export const ListKeys = z.object({
  includeRevoked: queryFlag.default(false),
  projectId: Id.optional(),
  organizationId: Id.optional(),
});

/** The list under both names that clients read. */
export const KeyList = z.object({ items: z.array(ApiKey), keys: z.array(ApiKey) }).meta({ id: "ApiKeyList" });

/** A longer overlap would keep a leaked key alive, unnoticed, after its rotation. */
const MOST_OVERLAP_SECONDS = 30 * DAY_SECONDS;

export const RotateApiKey = z
  .strictObject({
    overlapSeconds: z.int().min(0).max(MOST_OVERLAP_SECONDS).default(0).meta({
      description: "How long the old key still works. 0 revokes it immediately.",
    }),
  })
  .meta({ id: "ApiKeyRotate" });
export type RotateApiKey = z.output<typeof RotateApiKey>;
