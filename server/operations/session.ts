import { endpoint } from "@/server/api/endpoint";
import { SessionContext, SessionQuery } from "@/server/contract/session";
import { sessionContext } from "@/server/domain/organizations";

export const getSessionContext = endpoint({
  method: "GET",
  path: "/v1/session/context",
  summary: "Retrieve the caller's identity, organization and project",
  tags: ["Session"],
  auth: ["service_principal", "human_session"],
  scope: "diagnostics:read",
  query: SessionQuery,
  output: SessionContext,
  errors: [],
  run: (ctx, { query }) => sessionContext(ctx, query.projectId),
});
