import type { z } from "zod";
import type { SourcePreview, SourcePreviewRequest } from "@/server/contract/adapters";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import {
  type WeightsPreview as Looked,
  readSource,
  type SourceRef,
  sourceIo,
  sourceOf,
} from "@/server/model-sources";
import { refuseAt } from "./rows";
import { askSource } from "./sources/ask-source";

const AT = ["body", "query"];

/** Looks up a public source and proposes a registration. Registers nothing and reads no tensor. */
export async function previewSource(
  ctx: Ctx,
  named: { projectId?: string | undefined },
  { query }: z.output<typeof SourcePreviewRequest>,
): Promise<SourcePreview> {
  await access.authorize(ctx, "adapters:write", { projectId: named.projectId });
  const source = readPublic(query);
  if (!source)
    refuseAt(AT, "This is neither a repository (`owner/name`) nor a link to an allowed host.", "value_error");
  return toPreview(query, await look(ctx, source));
}

/** The source that a text names, if it can be looked up from here; otherwise null. */
export function readPublic(query: string): SourceRef | null {
  const source = readSource(query);
  return source && sourceOf(source).preview ? source : null;
}

/** Looks up a source. Its refusal is a 422 at `query`; ProviderUnavailable if it cannot be reached. */
export function look(ctx: Ctx, source: SourceRef): Promise<Looked> {
  return askSource(AT, async () => {
    const looked = await sourceOf(source).preview?.(source, sourceIo(ctx.signal?.()));
    if (!looked) throw new Error(`sources of kind ${source.kind} cannot be looked up`);
    return looked;
  });
}

export function toPreview(query: string, looked: Looked): SourcePreview {
  const { source, files, licenseUrl: _page, ...facts } = looked;
  return {
    ...facts,
    query,
    kind: source.kind,
    ref: source.ref,
    files: files.map(({ path, byteLength }) => ({ path, byteLength })),
  };
}
