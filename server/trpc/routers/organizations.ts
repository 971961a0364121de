import { z } from "zod";
import { AuditLogPage, ListAuditLog } from "@/server/contract/audit";
import { RotateApiKey } from "@/server/contract/keys";
import {
  AcceptedInvitation,
  AcceptInvitation,
  ChangeRole,
  Invitation,
  InvitationRef,
  Invite,
  LookAtInvitation,
  Member,
  MemberRef,
  OfferedPlace,
  Onboard,
  Onboarded,
  OrganizationRef,
  RemovedMember,
} from "@/server/contract/members";
import { ApiKey, NewApiKey } from "@/server/contract/organizations";
import { PlanSettingsView } from "@/server/contract/plan-settings";
import {
  OrganizationDetail,
  OrganizationUpdate,
  ProjectCreate,
  ProjectDetail,
  ProjectSettingsPatch,
} from "@/server/contract/projects";
import { ChangeSecurity, SecurityView } from "@/server/contract/security";
import * as invitations from "@/server/domain/invitations";
import * as organizations from "@/server/domain/organizations";
import { anybody, human, router } from "../init";

const Done = z.object({ done: z.literal(true) });
const done = { done: true } as const;
/** A key with the display name of its creator. */
const NamedKey = ApiKey.extend({ maker: z.string().nullable() });

/** The organization settings: people, invitations, projects, keys and the audit log. */
export const organizationsRouter = router({
  get: human
    .input(OrganizationRef)
    .output(OrganizationDetail)
    .query(({ ctx, input }) => organizations.getOrganization(ctx, input.organizationId)),
  rename: human
    .input(OrganizationRef.extend(OrganizationUpdate.shape))
    .output(OrganizationDetail)
    .mutation(({ ctx, input: { organizationId, ...change } }) =>
      organizations.changeOrganization(ctx, organizationId, change),
    ),
  plan: human
    .input(OrganizationRef)
    .output(PlanSettingsView)
    .query(({ ctx, input }) => organizations.planSettings(ctx, input.organizationId)),
  setExternalActions: human
    .input(OrganizationRef.extend({ externalActions: z.boolean() }))
    .output(PlanSettingsView)
    .mutation(({ ctx, input }) =>
      organizations.setExternalActions(ctx, input.organizationId, input.externalActions),
    ),
  security: human
    .input(OrganizationRef)
    .output(SecurityView)
    .query(({ ctx, input }) => organizations.readSecurity(ctx, input.organizationId)),
  setSecurity: human
    .input(OrganizationRef.extend(ChangeSecurity.shape))
    .output(SecurityView)
    .mutation(({ ctx, input: { organizationId, ...change } }) =>
      organizations.setSecurity(ctx, organizationId, change),
    ),
  members: human
    .input(OrganizationRef)
    .output(z.array(Member))
    .query(({ ctx, input }) => organizations.membersOf(ctx, input.organizationId)),
  changeRole: human
    .input(ChangeRole)
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await organizations.changeRole(ctx, input);
      return done;
    }),
  removeMember: human
    .input(MemberRef)
    .output(RemovedMember)
    .mutation(({ ctx, input }) => organizations.removeMember(ctx, input)),
  invitations: human
    .input(OrganizationRef)
    .output(z.array(Invitation))
    .query(({ ctx, input }) => invitations.invitationsOf(ctx, input.organizationId)),
  invite: human
    .input(Invite)
    .output(Invitation)
    .mutation(({ ctx, input }) => invitations.invite(ctx, input)),
  resendInvitation: human
    .input(InvitationRef)
    .output(Invitation)
    .mutation(({ ctx, input }) => invitations.resendInvitation(ctx, input.invitationId)),
  withdrawInvitation: human
    .input(InvitationRef)
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await invitations.withdrawInvitation(ctx, input.invitationId);
      return done;
    }),
  /** A mutation (POST), like every procedure that takes a token: URLs appear in logs. */
  lookAtInvitation: anybody
    .input(LookAtInvitation)
    .output(OfferedPlace)
    .mutation(({ ctx, input }) => invitations.lookAtInvitation(ctx, input.token)),
  acceptInvitation: anybody
    .input(AcceptInvitation)
    .output(AcceptedInvitation)
    .mutation(({ ctx, input }) => invitations.acceptInvitation(ctx, input)),
  onboard: human
    .input(Onboard)
    .output(Onboarded)
    .mutation(({ ctx, input }) => organizations.onboard(ctx, input)),
  projects: human
    .input(OrganizationRef)
    .output(z.array(ProjectDetail))
    .query(({ ctx, input }) => organizations.projectsOf(ctx, input.organizationId)),
  addProject: human
    .input(OrganizationRef.extend(ProjectCreate.shape))
    .output(ProjectDetail)
    .mutation(({ ctx, input: { organizationId, ...project } }) =>
      organizations.addProject(ctx, organizationId, project),
    ),
  changeProject: human
    .input(z.strictObject({ projectId: z.string().min(1).max(64) }).extend(ProjectSettingsPatch.shape))
    .output(ProjectDetail)
    .mutation(({ ctx, input: { projectId, ...change } }) =>
      organizations.patchProject(ctx, projectId, change),
    ),
  keys: human
    .input(OrganizationRef)
    .output(z.array(NamedKey))
    .query(async ({ ctx, input }) => {
      await organizations.getOrganization(ctx, input.organizationId);
      const keys = await organizations.listKeys(ctx, { ...input, includeRevoked: true });
      const names = await organizations.namesOf(keys.flatMap(({ createdBy }) => createdBy ?? []));
      return keys.map((key) => ({ ...key, maker: names.get(key.createdBy ?? "") ?? null }));
    }),
  rotateKey: human
    .input(z.strictObject({ keyId: z.string().min(1).max(64) }).extend(RotateApiKey.shape))
    .output(NewApiKey)
    .mutation(({ ctx, input: { keyId, ...how } }) => organizations.rotateKey(ctx, keyId, how)),
  auditLog: human
    // Not strict: the pages of an infinite query name a direction, too.
    .input(z.object({ ...OrganizationRef.shape, ...ListAuditLog.shape }))
    .output(AuditLogPage)
    .query(({ ctx, input: { organizationId, ...query } }) =>
      organizations.auditLog(ctx, organizationId, query),
    ),
});
