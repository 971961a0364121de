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
  /** Keys of the organization they made that work. */
  activeKeys: z.int(),
  joinedAt: DateTime,
});
export type Member = z.output<typeof Member>;

/** Who was removed, and the keys they made, which go on working. */
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
  /** Who sent it last, by email; else their id. */
  invitedBy: z.string(),
  sentAt: DateTime,
  expiresAt: DateTime,
  isExpired: z.boolean(),
});
export type Invitation = z.output<typeof Invitation>;

/** Of the link in the letter. Whatever is no token is answered like one no one was given. */
const Token = z.string().min(1).max(200);
export const LookAtInvitation = z.strictObject({ token: Token });

/** What the holder of the link reads. */
export const OfferedPlace = z.object({
  organizationName: z.string(),
  email: z.string(),
  role: Role,
  invitedBy: z.string(),
  expiresAt: DateTime,
  /** Is there a person of this address here, who then has to sign in? */
  isKnown: z.boolean(),
});
export type OfferedPlace = z.output<typeof OfferedPlace>;

export const AcceptInvitation = z.strictObject({
  token: Token,
  /** Of somebody who is new here. */
  displayName: CreateUser.shape.displayName,
  password: Password.optional(),
});
export type AcceptInvitation = z.output<typeof AcceptInvitation>;
export const AcceptedInvitation = z.object({
  organizationId: z.string(),
  email: z.string(),
  isNew: z.boolean(),
});
export type AcceptedInvitation = z.output<typeof AcceptedInvitation>;

/** The first organization and project of a person who belongs to none. */
export const Onboard = z.strictObject({
  organizationName: z.string().trim().min(1).max(255),
  projectName: z.string().trim().min(1).max(255),
});
export type Onboard = z.output<typeof Onboard>;
export const Onboarded = z.object({ organizationId: z.string(), projectId: z.string() });
