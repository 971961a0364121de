import { CapabilityRequestBody } from "@/server/contract/requests";
import type { Ctx } from "@/server/domain/ctx";
import { NEED } from "@/testing/needs";
import { makeProject } from "@/testing/world";

export const body = (more: object = {}) => CapabilityRequestBody.parse({ ...NEED, ...more });

/** A key of its own project whose clock is where it is put. */
export async function makeClocked() {
  const { ctx, ...project } = await makeProject();
  let at = Date.UTC(2026, 9, 1, 12);
  const clocked: Ctx = { ...ctx, now: () => new Date(at) };
  return { ...project, ctx: clocked, set: (date: Date) => (at = date.getTime()) };
}
