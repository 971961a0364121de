import { z } from "zod";
import { DateTime } from "./common";
import { CreateUser, Password, Role } from "./organizations";

const Id = z.string().min(1).max(64);

export const OrganizationRef = z.strictObject({ organizationId: Id });
export const MemberRef = z.strictObject({ organizationId: Id, userId: Id });
export const ChangeRole = MemberRef.extend({ role: Role });

export const Member = z.object({
  userId: z.string(),
  email: z.string(),
  displayName: z.string(),
  role: Role,
  isYou: z.boolean(),
  /** Working keys of the organization that the member created. */
  activeKeys: z.int(),
  joinedAt: DateTime,
});
export type Member = z.output<typeof Member>;

/** The removed member, and their keys, which continue to work. */
export const RemovedMember = z.object({
  userId: z.string(),
  email: z.string(),
  keys: z.array(
    z.object({ keyId: z.string(), name: z.string(), prefix: z.string(), projectId: z.string().nullable() }),
  ),
});
export type RemovedMember = z.output<typeof RemovedMember>;

export const Invite = z.strictObject({
  organizationId: Id,
  email: CreateUser.shape.email,
  role: Role.default("member"),
});
export type Invite = z.output<typeof Invite>;

export const InvitationRef = z.strictObject({ invitationId: Id });

export const Invitation = z.object({
  invitationId: z.string(),
  organizationId: z.string(),
  email: z.string(),
  role: Role,
  /** Email address of the last sender; otherwise their id. */
  invitedBy: z.string(),
  sentAt: DateTime,
  expiresAt: DateTime,
  isExpired: z.boolean(),
});
export type Invitation = z.output<typeof Invitation>;

/** The token of an invitation link. A malformed token gets the same answer as an unknown one. */
const Token = z.string().min(1).max(200);
export const LookAtInvitation = z.strictObject({ token: Token });

/** An invitation as the holder of its link sees it. */
export const OfferedPlace = z.object({
  organizationName: z.string(),
  email: z.string(),
  role: Role,
  invitedBy: z.string(),
  expiresAt: DateTime,
  /** Does a person with this address have an account? They must then sign in. */
  isKnown: z.boolean(),
});
export type OfferedPlace = z.output<typeof OfferedPlace>;

export const AcceptInvitation = z.strictObject({
  token: Token,
  /** Name of a new account; defaults to the part of the email address before the `@`. */
  displayName: CreateUser.shape.displayName,
  /** Required if the person has no account yet. */
  password: Password.optional(),
});
export type AcceptInvitation = z.output<typeof AcceptInvitation>;
export const AcceptedInvitation = z.object({
  organizationId: z.string(),
  email: z.string(),
  isNew: z.boolean(),
});
export type AcceptedInvitation = z.output<typeof AcceptedInvitation>;

/** The first organization and project of a person who belongs to no organization. */
export const Onboard = z.strictObject({
  organizationName: z.string().trim().min(1).max(255),
  projectName: z.string().trim().min(1).max(255),
});
export type Onboard = z.output<typeof Onboard>;
export const Onboarded = z.object({ organizationId: z.string(), projectId: z.string() });
