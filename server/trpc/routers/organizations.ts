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
import { anybody, router } from "../init";
import { acts, does, reads } from "../of";

/** A key with the display name of its creator. */
const NamedKey = ApiKey.extend({ maker: z.string().nullable() });

/** The organization settings: people, invitations, projects, keys and the audit log. */
export const organizationsRouter = router({
  get: reads(OrganizationRef, OrganizationDetail, (ctx, input) =>
    organizations.getOrganization(ctx, input.organizationId),
  ),
  rename: does(
    OrganizationRef.extend(OrganizationUpdate.shape),
    OrganizationDetail,
    (ctx, { organizationId, ...change }) => organizations.changeOrganization(ctx, organizationId, change),
  ),
  plan: reads(OrganizationRef, PlanSettingsView, (ctx, input) =>
    organizations.planSettings(ctx, input.organizationId),
  ),
  setExternalActions: does(
    OrganizationRef.extend({ externalActions: z.boolean() }),
    PlanSettingsView,
    (ctx, input) => organizations.setExternalActions(ctx, input.organizationId, input.externalActions),
  ),
  security: reads(OrganizationRef, SecurityView, (ctx, input) =>
    organizations.readSecurity(ctx, input.organizationId),
  ),
  setSecurity: does(
    OrganizationRef.extend(ChangeSecurity.shape),
    SecurityView,
    (ctx, { organizationId, ...change }) => organizations.setSecurity(ctx, organizationId, change),
  ),
  members: reads(OrganizationRef, z.array(Member), (ctx, input) =>
    organizations.membersOf(ctx, input.organizationId),
  ),
  changeRole: acts(ChangeRole, organizations.changeRole),
  removeMember: does(MemberRef, RemovedMember, organizations.removeMember),
  invitations: reads(OrganizationRef, z.array(Invitation), (ctx, input) =>
    invitations.invitationsOf(ctx, input.organizationId),
  ),
  invite: does(Invite, Invitation, invitations.invite),
  resendInvitation: does(InvitationRef, Invitation, (ctx, input) =>
    invitations.resendInvitation(ctx, input.invitationId),
  ),
  withdrawInvitation: acts(InvitationRef, (ctx, input) =>
    invitations.withdrawInvitation(ctx, input.invitationId),
  ),
  /** A mutation (POST), like every procedure that takes a token: URLs appear in logs. */
  lookAtInvitation: anybody
    .input(LookAtInvitation)
    .output(OfferedPlace)
    .mutation(({ ctx, input }) => invitations.lookAtInvitation(ctx, input.token)),
  acceptInvitation: anybody
    .input(AcceptInvitation)
    .output(AcceptedInvitation)
    .mutation(({ ctx, input }) => invitations.acceptInvitation(ctx, input)),
  onboard: does(Onboard, Onboarded, organizations.onboard),
  projects: reads(OrganizationRef, z.array(ProjectDetail), (ctx, input) =>
    organizations.projectsOf(ctx, input.organizationId),
  ),
  addProject: does(
    OrganizationRef.extend(ProjectCreate.shape),
    ProjectDetail,
    (ctx, { organizationId, ...project }) => organizations.addProject(ctx, organizationId, project),
  ),
  changeProject: does(
    z.strictObject({ projectId: z.string().min(1).max(64) }).extend(ProjectSettingsPatch.shape),
    ProjectDetail,
    (ctx, { projectId, ...change }) => organizations.patchProject(ctx, projectId, change),
  ),
  keys: reads(OrganizationRef, z.array(NamedKey), async (ctx, input) => {
    await organizations.getOrganization(ctx, input.organizationId);
    const keys = await organizations.listKeys(ctx, { ...input, includeRevoked: true });
    const names = await organizations.principalNames(keys.flatMap(({ createdBy }) => createdBy ?? []));
    return keys.map((key) => ({ ...key, maker: names.get(key.createdBy ?? "") ?? null }));
  }),
  rotateKey: does(
    z.strictObject({ keyId: z.string().min(1).max(64) }).extend(RotateApiKey.shape),
    NewApiKey,
    (ctx, { keyId, ...how }) => organizations.rotateKey(ctx, keyId, how),
  ),
  auditLog: reads(
    // Not strict, because the pages of an infinite query also send a direction.
    z.object({ ...OrganizationRef.shape, ...ListAuditLog.shape }),
    AuditLogPage,
    (ctx, { organizationId, ...query }) => organizations.auditLog(ctx, organizationId, query),
  ),
});
