import { z } from "zod";

/** The caller's identity, and the organization, project and environment of its requests. */
export const SessionContext = z
  .object({
    /** True if nothing can run yet, because there is no organization or no project. */
    needsOnboarding: z.boolean(),
    organization: z.object({ id: z.string(), displayName: z.string() }).nullable(),
    project: z.object({ id: z.string(), displayName: z.string(), slug: z.string() }).nullable(),
    environment: z.object({ id: z.string(), slug: z.string(), displayName: z.string() }).nullable(),
    productId: z.string().nullable(),
    identity: z.object({
      /** The kind of credential: `api_key`, or the session of a `browser` or `device`. */
      provider: z.string(),
      account: z.string(),
      displayName: z.string(),
      authenticated: z.literal(true),
    }),
  })
  .meta({ id: "SessionContext" });
export type SessionContext = z.output<typeof SessionContext>;
