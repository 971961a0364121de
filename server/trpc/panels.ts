import { z } from "zod";
import { ProjectRef } from "@/server/contract/jobs";
import { DefinePanel, ListPanelSessions, PanelDefinition, PanelSessionPage } from "@/server/contract/panels";
import * as panels from "@/server/domain/panels";
import * as api from "@/server/operations/panels";
import { human, router } from "./init";
import { mutation } from "./of";

export const panelsRouter = router({
  /** A project's embeds: its own and those of its organization, including archived ones. */
  definitions: human
    .input(ProjectRef)
    .output(z.array(PanelDefinition))
    .query(async ({ ctx, input }) => {
      const query = { projectId: input.project_id, includeArchived: true };
      return (await panels.listDefinitions(ctx, query)).definitions;
    }),
  define: human
    .input(DefinePanel)
    .output(PanelDefinition)
    .mutation(({ ctx, input }) => panels.createDefinition(ctx, input)),
  change: mutation(api.changePanelDefinition),
  sessions: human
    .input(ListPanelSessions.extend(ProjectRef.shape))
    .output(PanelSessionPage)
    .query(({ ctx, input: { project_id, ...query } }) => panels.listSessions(ctx, project_id, query)),
  revokeSession: mutation(api.revokePanelSession),
});
