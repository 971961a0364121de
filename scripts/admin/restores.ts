import type { Ctx } from "@/server/domain/ctx";
import { HELD_KINDS, heldWork, holdRestored, releaseHeld } from "@/server/domain/restores";
import type { Reading } from "./budgets";

export const RESTORE_FLAGS = { kind: { type: "string" } } as const;

/** Runs a command about a restored installation. Null if it is another command. */
export async function performRestores(
  ctx: Ctx,
  command: string,
  flags: { kind?: string | undefined },
  { oneOf }: Reading,
): Promise<object | null> {
  if (command === "restore hold") return { items: await holdRestored(ctx) };
  if (command !== "restore release") return null;
  if (flags.kind === undefined) return { items: await heldWork(ctx) };
  const named = flags.kind.split(",").map((kind) => oneOf("kind", [...HELD_KINDS, "all"], kind.trim()));
  const kinds = HELD_KINDS.filter((kind) => named.includes(kind) || named.includes("all"));
  const released = await releaseHeld(ctx, kinds);
  return { items: released.map(({ kind, unfinished }) => ({ kind, released: unfinished })) };
}
