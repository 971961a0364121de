import { z } from "zod";
import { Connection, SetConnectionGuardrails } from "@/server/contract/connections";
import {
  ConnectableProvider,
  ConnectProject,
  Credential,
  ProjectConnections,
} from "@/server/contract/credentials";
import { ProjectRef } from "@/server/contract/jobs";
import { connectableProviders } from "@/server/domain/catalog";
import * as credentials from "@/server/domain/connections";
import * as connections from "@/server/domain/onboarding";
import * as api from "@/server/operations/connections";
import * as accounts from "@/server/operations/credentials";
import { router } from "../init";
import { does, mutation, Nothing, query, reads } from "../of";

export const connectionsRouter = router({
  list: reads(ProjectRef, ProjectConnections, (ctx, input) =>
    credentials.projectConnections(ctx, input.project_id),
  ),
  providers: reads(Nothing, z.array(ConnectableProvider), () => connectableProviders()),
  connect: does(ConnectProject, Credential, credentials.connectProject),
  rotate: mutation(accounts.rotateProviderCredential),
  bind: mutation(accounts.bindProviderCredential),
  unbind: mutation(accounts.unbindProviderCredential),
  remove: mutation(accounts.deleteProviderCredential),
  detail: query(api.getConnection),
  /** Tests the connection with its provider, and explains how to fix problems. */
  test: mutation(api.repairConnection),
  setGuardrails: does(SetConnectionGuardrails, Connection, (ctx, { connection_id, ...guardrails }) =>
    connections.setGuardrails(ctx, connection_id, guardrails),
  ),
  plan: query(api.planOnboarding),
  session: query(api.getOnboardingSession),
});
