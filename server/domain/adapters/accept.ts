import type { z } from "zod";
import type { AcceptRequest, AdapterQuery, ModelAdapter, Suggestion } from "@/server/contract/adapters";
import type { Ctx } from "@/server/domain/ctx";
import type { SourceRef } from "@/server/model-sources";
import { inTransaction, pool, type Queryable } from "@/server/platform/db";
import { maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type AdapterDescription, insertAdapter, type KnownSource } from "./insert";
import { type AdapterEnvironment, requireEnvironment } from "./place";
import { look, readPublic, toPreview } from "./preview";
import { ADAPTER, ADAPTER_COLUMNS, type AdapterRow, refuseAt, toAdapter } from "./rows";
import { freeze, toKnown } from "./sources/sources";
import { suggestLike, suggestOwn } from "./suggest";

/**
 * Applies a name or a link: uses the adapter of the environment that matches it, or registers a public one if
 * its weights file, its family and its exact bytes are known. Any other query gets the answer of `suggest` and
 * registers nothing.
 */
export async function accept(
  ctx: Ctx,
  query: z.output<typeof AdapterQuery>,
  input: AcceptRequest,
): Promise<Suggestion> {
  const place = await requireEnvironment(ctx, query, "adapters:write");
  const own = await suggestOwn(place, input.query);
  const source = own ? null : readPublic(input.query);
  if (source) return acceptPublic(ctx, place, source, input);
  const meant = own ?? (await suggestLike(place, input.query));
  if (!meant) return { resolution: "not_found", patch: null, preview: null, adapter: null };
  return meant.resolution === "patch" ? { ...meant, resolution: "used" } : meant;
}

async function acceptPublic(
  ctx: Ctx,
  place: AdapterEnvironment,
  read: SourceRef,
  input: AcceptRequest,
): Promise<Suggestion> {
  const wanted = { ...read, filePath: input.filePath || read.filePath };
  if (!input.refresh) {
    const [known, ...others] = await registeredFrom(pool, place, wanted);
    if (known && others.length === 0) return taken("used", toAdapter(known));
  }
  const looked = await look(ctx, wanted);
  const { selectedFile, files } = looked;
  const preview = toPreview(input.query, looked);
  if (input.filePath && !files.some(({ path }) => path === input.filePath))
    refuseAt(
      ["body", "filePath"],
      "The source has no weights with this name. Choose one of its files.",
      "not_found",
    );
  const baseModelFamily = input.baseModelFamily || looked.baseModelFamily;
  const suggestion: Suggestion = { resolution: "suggestion", patch: null, preview, adapter: null };
  if (!selectedFile || !baseModelFamily) return suggestion;

  // Freezes the commit that was looked at, even if the branch has moved since.
  const frozen = await freeze(ctx, { ...looked.source, revision: looked.revision }, ["body", "query"]);
  if (!frozen.isFrozen) return suggestion;
  const described = {
    displayName: looked.displayName || selectedFile,
    baseModelFamily,
    triggerWords: looked.triggerWords,
    recommendedWeight: looked.recommendedWeight,
    licenseName: looked.licenseName,
    licenseUrl: looked.licenseUrl,
    licenseStatus: looked.licenseName ? ("declared" as const) : ("unknown" as const),
  };
  return registerOnce(ctx, place, described, toKnown(ctx, frozen));
}

/** Registers a frozen source once: concurrent callers that accept it get the same adapter. */
function registerOnce(
  ctx: Ctx,
  place: AdapterEnvironment,
  described: AdapterDescription,
  source: KnownSource,
): Promise<Suggestion> {
  const { ref, revision, filePath } = source;
  const lock = [place.projectId, place.environment, ref, revision, filePath].join("\n");
  return inTransaction(async (client) => {
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`adapter source\n${lock}`]);
    const [known] = await registeredFrom(client, place, source);
    if (known) return taken("used", toAdapter(known));
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? "" : ` (${number})`;
      const displayName = described.displayName.slice(0, 255 - suffix.length) + suffix;
      const made = await insertAdapter(ctx, client, place, {
        described: { ...described, displayName },
        source,
      });
      if (made) return taken("registered", made);
    }
  });
}

const listOfSource = statement("model_adapter.list.source", {
  params: {
    projectId: text,
    environment: text,
    ref: text,
    revision: maybe(text),
    filePath: maybe(text),
  },
  row: ADAPTER,
  sql: `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter
     WHERE adapter.project_id = $projectId AND adapter.environment = $environment AND adapter.deleted_at IS NULL
       AND adapter.frozen AND adapter.source_kind = 'huggingface' AND lower(adapter.source_ref) = lower($ref)
       AND ($revision::text IS NULL OR adapter.source_revision = $revision)
       AND ($filePath::text IS NULL OR adapter.file_path = $filePath)
     ORDER BY adapter.id`,
});

/**
 * Frozen adapters from this Hugging Face repository, oldest first, limited to the commit and the file if they
 * are given.
 */
function registeredFrom(
  database: Queryable,
  { projectId, environment }: AdapterEnvironment,
  { ref, revision, filePath }: Pick<SourceRef, "ref" | "revision" | "filePath">,
): Promise<AdapterRow[]> {
  return listOfSource.all(database, { projectId, environment, ref, revision, filePath });
}

function taken(resolution: "used" | "registered", adapter: ModelAdapter): Suggestion {
  return { resolution, patch: { adapters: [{ adapterId: adapter.adapterId }] }, preview: null, adapter };
}
