import { z } from "zod";

/** Requirements that members must meet before they have any rights in an organization. */
export const Security = z
  .object({
    /** Only members with a second factor have rights here. */
    requireSecondFactor: z.boolean().default(false),
    /** Maximum lifetime of a member's browser and device sessions, in hours; null sets no limit of its own. */
    sessionHours: z.int().min(1).max(720).nullable().default(null),
  })
  .meta({ id: "OrganizationSecurity" });
export type Security = z.output<typeof Security>;

/** Fields that are left out stay. */
export const ChangeSecurity = z.strictObject({
  requireSecondFactor: z.boolean().optional(),
  sessionHours: Security.shape.sessionHours.unwrap().optional(),
});
export type ChangeSecurity = z.output<typeof ChangeSecurity>;

/** The requirements, and the members whom they affect. */
export const SecurityView = z.object({
  ...Security.shape,
  members: z.int(),
  /** Members without a second factor; null unless the reader is an owner. */
  membersWithout: z.int().nullable(),
  /** Does the reader have one? A reader without one cannot require it of others. */
  hasSecondFactor: z.boolean(),
});
export type SecurityView = z.output<typeof SecurityView>;
