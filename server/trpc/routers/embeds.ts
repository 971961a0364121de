import { z } from "zod";
import { DefineEmbed, EmbedDefinition, EmbedSessionPage, ListEmbedSessions } from "@/server/contract/embeds";
import { ProjectRef } from "@/server/contract/jobs";
import * as embeds from "@/server/domain/embeds";
import * as api from "@/server/operations/embeds";
import { human, router } from "@/server/trpc/init";
import { mutation } from "@/server/trpc/of";

export const embedsRouter = router({
  /** A project's embeds: its own and those of its organization, including archived ones. */
  definitions: human
    .input(ProjectRef)
    .output(z.array(EmbedDefinition))
    .query(async ({ ctx, input }) => {
      const query = { projectId: input.project_id, includeArchived: true };
      return (await embeds.listDefinitions(ctx, query)).definitions;
    }),
  define: human
    .input(DefineEmbed)
    .output(EmbedDefinition)
    .mutation(({ ctx, input }) => embeds.createDefinition(ctx, input)),
  change: mutation(api.changePanelDefinition),
  sessions: human
    .input(ListEmbedSessions.extend(ProjectRef.shape))
    .output(EmbedSessionPage)
    .query(({ ctx, input: { project_id, ...query } }) => embeds.listSessions(ctx, project_id, query)),
  revokeSession: mutation(api.revokePanelSession),
});
