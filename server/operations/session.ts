import { InProject } from "@/server/contract/common";
import { SessionContext } from "@/server/contract/session";
import { sessionContext } from "@/server/domain/organizations";
import { byKeysAndPeople, operations } from "./define";

const read = operations("Session", byKeysAndPeople("diagnostics:read"));

export const getSessionContext = read.get("/v1/session/context", {
  summary: "Retrieve the caller's identity, organization and project",
  query: InProject,
  output: SessionContext,
  run: (ctx, { query }) => sessionContext(ctx, query.projectId),
});
