import type { Ctx, Scope } from "@/server/domain/ctx";
import { authorize } from "./authorize";

/**
 * The project of a request whose body and query may each name one; undefined if neither does. The body takes
 * precedence, and a foreign project in the query is refused.
 */
export async function namedProject(
  ctx: Ctx,
  right: Scope,
  { body, query }: { body: string | null | undefined; query: string | undefined },
): Promise<string | undefined> {
  if (body && query && body !== query) await authorize(ctx, right, { projectId: query });
  return body ?? query;
}
