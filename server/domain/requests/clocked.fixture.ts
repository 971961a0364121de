import { CapabilityRequestBody } from "@/server/contract/requests";
import type { Ctx } from "@/server/domain/ctx";
import { NEED } from "@/testing/needs";
import { makeProject } from "@/testing/world";

export const body = (more: object = {}) => CapabilityRequestBody.parse({ ...NEED, ...more });

/** Creates a project whose key has a clock that the test sets. */
export async function makeClocked() {
  const { ctx, ...project } = await makeProject();
  let at = Date.UTC(2026, 9, 1, 12);
  const clocked: Ctx = { ...ctx, now: () => new Date(at) };
  return { ...project, ctx: clocked, set: (date: Date) => (at = date.getTime()) };
}
