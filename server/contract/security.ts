import { z } from "zod";

/** What an organization asks of its members before they may do anything there. */
export const Security = z
  .object({
    /** Only members who have a second factor have rights here. */
    requireSecondFactor: z.boolean().default(false),
    /** How many hours a session of its members lasts at most, of browsers and devices; null: as long as any. */
    sessionHours: z.int().min(1).max(720).nullable().default(null),
  })
  .meta({ id: "OrganizationSecurity" });
export type Security = z.output<typeof Security>;

/** Only what is named changes. */
export const ChangeSecurity = z.strictObject({
  requireSecondFactor: z.boolean().optional(),
  sessionHours: Security.shape.sessionHours.unwrap().optional(),
});
export type ChangeSecurity = z.output<typeof ChangeSecurity>;

/** What is required, and whom it affects. */
export const SecurityView = z.object({
  ...Security.shape,
  members: z.int(),
  /** Members who have no second factor; for owners, else null. */
  membersWithout: z.int().nullable(),
  /** Has the reader one? Who has none cannot ask others for it. */
  hasSecondFactor: z.boolean(),
});
export type SecurityView = z.output<typeof SecurityView>;
