import type { ModelAdapter } from "@/server/contract/adapters";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { type AdapterDescription, insertAdapter, type KnownSource, nameTaken, requireEnvironment } from ".";

/** A source after it was looked at: one file at one commit. */
export const source = (more: Partial<KnownSource> = {}): KnownSource => ({
  kind: "huggingface",
  ref: `owner/${newId("adapter")}`,
  revision: "0123456789abcdef0123456789abcdef01234567",
  filePath: "lora.safetensors",
  provider: null,
  sha256: null,
  byteLength: 1_000,
  frozen: true,
  artifactId: null,
  health: { status: "healthy", checkedAt: new Date(), detail: null },
  ...more,
});

/** Registers an adapter of a source that needs no network. */
export async function putAdapter(
  ctx: Ctx,
  displayName: string,
  { environment, projectId, ...more }: Partial<AdapterDescription & KnownSource> & Where = {},
): Promise<ModelAdapter> {
  const place = await requireEnvironment(ctx, { projectId, environment }, "adapters:write");
  const described = { baseModelFamily: "flux", ...more, displayName };
  return inTransaction(
    async (client) =>
      (await insertAdapter(ctx, client, place, { described, source: source(more) })) ?? nameTaken(),
  );
}

type Where = { environment?: string; projectId?: string };

/** The fault of an operation: a code, or the place and type of a field's fault; "nothing" if it succeeded. */
export async function refusal(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && "code" in error) return error.code;
    if (error instanceof Error && "issues" in error) {
      const [issue] = error.issues as { loc: unknown[]; type: string }[]; // the issues of a ValidationFault
      return `${issue?.loc.join(".")} ${issue?.type}`;
    }
    throw error;
  }
  return "nothing";
}
