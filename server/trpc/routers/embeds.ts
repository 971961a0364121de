import { z } from "zod";
import { DefineEmbed, EmbedDefinition, EmbedSessionPage, ListEmbedSessions } from "@/server/contract/embeds";
import { ProjectRef } from "@/server/contract/jobs";
import * as embeds from "@/server/domain/embeds";
import * as api from "@/server/operations/embeds";
import { router } from "../init";
import { does, mutation, reads } from "../of";

export const embedsRouter = router({
  /** A project's embeds: its own and those of its organization, including archived ones. */
  definitions: reads(ProjectRef, z.array(EmbedDefinition), async (ctx, input) => {
    const query = { projectId: input.project_id, includeArchived: true };
    return (await embeds.listDefinitions(ctx, query)).definitions;
  }),
  define: does(DefineEmbed, EmbedDefinition, embeds.createDefinition),
  change: mutation(api.changePanelDefinition),
  sessions: reads(
    ListEmbedSessions.extend(ProjectRef.shape),
    EmbedSessionPage,
    (ctx, { project_id, ...query }) => embeds.listSessions(ctx, project_id, query),
  ),
  revokeSession: mutation(api.revokePanelSession),
});
