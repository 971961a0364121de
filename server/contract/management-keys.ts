import { z } from "zod";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { BUDGET_PERIODS, MANAGEMENT_SCOPES, RUN_SCOPES } from "./enums";

const Id = z.string().min(1).max(64);

/** Longest lifetime of a management key. */
export const LONGEST_MANAGEMENT_SECONDS = 90 * DAY_SECONDS;

/** Host as in a URL, with the port if it is not the default one. */
const Host = z
  .string()
  .trim()
  .toLowerCase()
  .max(255)
  .refine((host) => URL.canParse(`https://${host}`) && new URL(`https://${host}`).host === host, {
    message: "Send a host as in a URL, such as models.example.com or models.example.com:8443.",
  });

/** Limits of what a management key can grant; its owner fixes them on creation. */
export const ManagementGrant = z
  .object({
    projectIds: z.array(Id).min(1).max(100).meta({ description: "The projects it works in." }),
    runScopes: z
      .array(z.enum(RUN_SCOPES))
      .meta({ description: "The scopes that keys created by it can have." }),
    hosts: z
      .array(Host)
      .max(50)
      .meta({ description: "The hosts of base URLs to which it can send a provider secret." }),
  })
  .meta({ id: "ManagementGrant" });
export type ManagementGrant = z.output<typeof ManagementGrant>;

/** Shared limit of what a management key and all keys created by it can spend. */
const Ceiling = z.strictObject({
  micros: z.int().min(0).max(1e15),
  period: z.enum(BUDGET_PERIODS).default("total"),
});

export const CreateManagementKey = z
  .strictObject({
    organizationId: Id,
    name: z.string().trim().min(1).max(255),
    scopes: z.array(z.enum(MANAGEMENT_SCOPES)).min(1),
    projectIds: ManagementGrant.shape.projectIds,
    runScopes: ManagementGrant.shape.runScopes.default([]),
    hosts: ManagementGrant.shape.hosts.default([]),
    ceiling: Ceiling.optional(),
    expiresInSeconds: z.int().min(1).max(LONGEST_MANAGEMENT_SECONDS),
  })
  .superRefine(({ scopes, runScopes, hosts, ceiling }, context) => {
    const missing = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    if (scopes.includes("keys:write")) {
      if (runScopes.length === 0) missing("runScopes", "Choose the scopes that its keys can have.");
      if (!ceiling) missing("ceiling", "Set what its keys may spend together.");
    }
    if (scopes.includes("credentials:write") && hosts.length === 0)
      missing("hosts", "Name the hosts to which it can connect.");
  });
export type CreateManagementKey = z.output<typeof CreateManagementKey>;
