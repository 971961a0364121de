import { type JobRequest, MaturityRating } from "@/server/contract/envelope";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";

/** What the content of a request may show, by its own word. */
export type HostsChoice = Partial<Pick<JobRequest, "maturityRating" | "matureContentTraits">>;

const RATINGS = MaturityRating.options;
/** Ratings that say nothing of content for adults. */
const FOR_ALL: readonly MaturityRating[] = ["G", "PG", "PG13"];

/**
 * What a project says its content may show, its host has said: the visitor of a panel may say less and not more. Where the
 * project says nothing, a visitor says what any caller may.
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
