import { JsonObject } from "@/server/contract/common";
import type { EmbedBootstrap } from "@/server/contract/embeds";
import { describeCapability, getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { panelSession } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import {
  definitionsWhere,
  noSuchSession,
  readSession,
  toSession,
  USUAL_POLICY,
  USUAL_PRESENTATION,
} from "./rows";

/** The data of an embed's page, for the session that asks: its embed, its inputs and its remaining limits. */
export async function bootstrap(ctx: Ctx): Promise<EmbedBootstrap> {
  if (ctx.principal.kind !== "panel_session")
    fail("AuthorizationFailed", "This endpoint is for embed sessions only.");
  const row = await readSession.first(pool, { sessionId: ctx.principal.id });
  if (!row) return noSuchSession();
  const session = toSession(row, ctx.now());
  const { sessionId, projectId, environment, externalSubject, allowedOrigins, expiresAt } = session;
  return {
    protocol: "service.panel.v1",
    session: { sessionId, projectId, environment, externalSubject, allowedOrigins, expiresAt },
    limits: {
      maxSpendMicros: session.maxSpendMicros,
      remainingMicros: Math.max(
        0,
        session.maxSpendMicros - Math.max(session.spentMicros, session.testSpentMicros),
      ),
      maxJobs: session.maxJobs,
      remainingJobs: session.maxJobs - session.admittedJobs,
    },
    definition:
      row.definition_id === null
        ? null
        : {
            id: row.definition_id,
            key: row.definition_key ?? "",
            displayName: row.display_name ?? "",
            version: row.version ?? 1,
          },
    presentation: row.presentation ?? USUAL_PRESENTATION,
    policy: row.policy ?? USUAL_POLICY,
    actions: row.actions ?? [],
    initialInputs: session.initialInputs,
    lockedInputs: session.lockedInputs,
    capability: row.capability_key === null ? null : capabilityOf(row.capability_key),
  };
}

function capabilityOf(key: string): EmbedBootstrap["capability"] {
  const { title, description, inputSchema, executionModes, output, examples } = describeCapability(
    getCapability(key),
    false,
  );
  return { key, title, description, inputSchema, executionModes, output: JsonObject.parse(output), examples };
}

const readFramers = statement("panel-framers", {
  params: { sessionId: text },
  row: { allowed_origins: panelSession.allowed_origins },
  sql: `SELECT allowed_origins FROM panel_session WHERE id = $sessionId`,
  prepared: true,
});

const readActive = definitionsWhere(
  "embed_definition.read.active",
  { definitionId: text },
  "d.id = $definitionId AND d.status = 'active'",
);

/** Origins whose pages may frame the page of this session or active embed; empty if it does not exist. */
export async function framersOf(named: { sessionId?: string; definitionId?: string }): Promise<string[]> {
  if (named.sessionId) {
    const found = await readFramers.first(pool, { sessionId: named.sessionId });
    return found?.allowed_origins ?? [];
  }
  if (!named.definitionId) return [];
  const row = await readActive.first(pool, { definitionId: named.definitionId });
  return row?.allowed_origins ?? [];
}
