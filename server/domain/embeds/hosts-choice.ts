import { type JobRequest, MaturityRating } from "@/server/contract/envelope";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";

/** The fields of a request that state what its content may show. */
export type HostsChoice = Partial<Pick<JobRequest, "maturityRating" | "matureContentTraits">>;

const RATINGS = MaturityRating.options;
/** Ratings without content for adults. */
const FOR_ALL: readonly MaturityRating[] = ["G", "PG", "PG13"];

/**
 * Refuses content beyond the rating of an embed's project: a visitor may be stricter, not looser. If the
 * project sets no rating, visitors choose like any caller.
 */
export function checkHosts(
  settings: Record<string, Json>,
  { maturityRating, matureContentTraits = [] }: HostsChoice,
): void {
  const most = MaturityRating.safeParse(settings.maturityRating).data;
  if (!most) return;
  const ratings = RATINGS.slice(0, RATINGS.indexOf(most) + 1);
  if (maturityRating && !ratings.includes(maturityRating)) refuse("maturityRating", maturityRating, ratings);
  const [trait] = matureContentTraits;
  if (trait && FOR_ALL.includes(most)) refuse("matureContentTraits", trait, []);
}

function refuse(field: string, value: string, allowed: readonly string[]): never {
  fail("PolicyRejected", `An embed session cannot set ${field} to ${value}, because its project does not.`, {
    policy: "panel",
    field,
    allowed: [...allowed],
  });
}
