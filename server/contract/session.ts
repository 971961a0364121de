import { z } from "zod";

/** The caller's position: who it is, and the organization, project and environment it works in. */
export const SessionContext = z
  .object({
    /** Nothing can run yet: there is no organization or no project. */
    needsOnboarding: z.boolean(),
    organization: z.object({ id: z.string(), displayName: z.string() }).nullable(),
    project: z.object({ id: z.string(), displayName: z.string(), slug: z.string() }).nullable(),
    environment: z.object({ id: z.string(), slug: z.string(), displayName: z.string() }).nullable(),
    productId: z.string().nullable(),
    identity: z.object({
      /** What the caller proves who it is with: `api_key`, or the session of a `browser` or `device`. */
      provider: z.string(),
      account: z.string(),
      displayName: z.string(),
      authenticated: z.literal(true),
    }),
  })
  .meta({ id: "SessionContext" });
export type SessionContext = z.output<typeof SessionContext>;
