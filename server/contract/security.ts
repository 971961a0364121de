import { z } from "zod";

/** What an organization asks of its members before they may do anything there. */
export const Security = z
  .object({
    /** Only members who have a second factor have rights here. No verb sets it: nobody could meet it yet. */
    requireSecondFactor: z.boolean().default(false),
    /** How many hours a session of its members lasts at most, of browsers and devices; null: as long as any. */
    sessionHours: z.int().min(1).max(720).nullable().default(null),
  })
  .meta({ id: "OrganizationSecurity" });
export type Security = z.output<typeof Security>;
