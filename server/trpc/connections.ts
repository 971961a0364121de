import { z } from "zod";
import {
  Connection,
  ConnectionDetail,
  ConnectionPath,
  ConnectionRepair,
  OnboardingPath,
  OnboardingPlan,
  OnboardingRequest,
  OnboardingSession,
  SetConnectionGuardrails,
} from "@/server/contract/connections";
import {
  BindCredential,
  ConnectableProvider,
  ConnectProject,
  CreateCredential,
  Credential,
  CredentialBinding,
  CredentialBindingPath,
  CredentialPath,
  DeletedCredential,
  Done,
  ProjectConnections,
} from "@/server/contract/credentials";
import { ProjectRef } from "@/server/contract/jobs";
import { connectableProviders } from "@/server/domain/catalog";
import * as connections from "@/server/domain/connections";
import * as credentials from "@/server/domain/credentials";
import { human, router } from "./init";

export const connectionsRouter = router({
  list: human
    .input(ProjectRef)
    .output(ProjectConnections)
    .query(({ ctx, input }) => credentials.projectConnections(ctx, input.project_id)),
  providers: human.output(z.array(ConnectableProvider)).query(() => connectableProviders()),
  connect: human
    .input(ConnectProject)
    .output(Credential)
    .mutation(({ ctx, input }) => credentials.connectProject(ctx, input)),
  rotate: human
    .input(CreateCredential.extend(CredentialPath.shape))
    .output(Credential)
    .mutation(({ ctx, input: { organization_id, credential_id, ...input } }) =>
      credentials.rotateCredential(ctx, organization_id, credential_id, input),
    ),
  bind: human
    .input(BindCredential.extend(CredentialPath.shape))
    .output(CredentialBinding)
    .mutation(({ ctx, input: { organization_id, credential_id, ...input } }) =>
      credentials.bindCredential(ctx, organization_id, credential_id, input),
    ),
  unbind: human
    .input(CredentialBindingPath)
    .output(Done)
    .mutation(({ ctx, input }) =>
      credentials.unbindCredential(ctx, input.organization_id, input.credential_id, input.binding_id),
    ),
  remove: human
    .input(CredentialPath)
    .output(DeletedCredential)
    .mutation(({ ctx, input }) =>
      credentials.deleteCredential(ctx, input.organization_id, input.credential_id),
    ),
  detail: human
    .input(ConnectionPath)
    .output(ConnectionDetail)
    .query(({ ctx, input }) => connections.get(ctx, input.connection_id)),
  /** Tests the connection with its provider, and says how to fix problems. */
  test: human
    .input(ConnectionPath)
    .output(ConnectionRepair)
    .mutation(({ ctx, input }) => connections.repair(ctx, input.connection_id)),
  setGuardrails: human
    .input(SetConnectionGuardrails)
    .output(Connection)
    .mutation(({ ctx, input: { connection_id, ...guardrails } }) =>
      connections.setGuardrails(ctx, connection_id, guardrails),
    ),
  plan: human
    .input(OnboardingRequest)
    .output(OnboardingPlan)
    .query(({ ctx, input }) => connections.plan(ctx, input)),
  session: human
    .input(OnboardingPath)
    .output(OnboardingSession)
    .query(({ ctx, input }) => connections.getOnboarding(ctx, input.session_id)),
});
