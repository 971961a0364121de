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
import { human, router } from "../init";
import { mutation, query } from "../of";

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
  rotate: mutation(accounts.rotateProviderCredential),
  bind: mutation(accounts.bindProviderCredential),
  unbind: mutation(accounts.unbindProviderCredential),
  remove: mutation(accounts.deleteProviderCredential),
  detail: query(api.getConnection),
  /** Tests the connection with its provider, and says how to fix problems. */
  test: mutation(api.repairConnection),
  setGuardrails: human
    .input(SetConnectionGuardrails)
    .output(Connection)
    .mutation(({ ctx, input: { connection_id, ...guardrails } }) =>
      connections.setGuardrails(ctx, connection_id, guardrails),
    ),
  plan: query(api.planOnboarding),
  session: query(api.getOnboardingSession),
});
