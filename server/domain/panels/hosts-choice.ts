import { type JobRequest, MaturityRating, RETENTION_DAYS } from "@/server/contract/envelope";
import { fail } from "@/server/errors";
import type { Json } from "@/server/step";

type RetentionRequirement = JobRequest["context"]["retentionRequirement"];

/** Of a request: what its content may show, how long it is kept and whose account pays. */
export type HostsChoice = Partial<
  Pick<JobRequest, "maturityRating" | "matureContentTraits" | "maturitySource">
> & {
  context: { retentionRequirement: RetentionRequirement };
  execution: Pick<JobRequest["execution"], "billingMode" | "credentialSource">;
};

const RATINGS = MaturityRating.options;
const SHORT_RETENTION = (Object.keys(RETENTION_DAYS) as RetentionRequirement[]).filter((each) => {
  const days = RETENTION_DAYS[each];
  return days !== null && days <= RETENTION_DAYS.Transient;
});

/**
 * Refuses what the visitor of a panel may not choose for its host: a rating above the project's (any, where it says none),
 * traits, another's word for who said so, content kept longer than is usual, and which account pays.
 */
export function checkHosts(settings: Record<string, Json>, asked: HostsChoice): void {
  const { maturityRating, matureContentTraits = [], maturitySource, context, execution } = asked;
  const most = MaturityRating.safeParse(settings.maturityRating).data;
  const ratings = most ? RATINGS.slice(0, RATINGS.indexOf(most) + 1) : [];
  if (maturityRating && !ratings.includes(maturityRating)) refuse("maturityRating", maturityRating, ratings);
  if (matureContentTraits[0]) refuse("matureContentTraits", matureContentTraits[0], []);
  if (maturitySource && maturitySource !== "explicit_invocation")
    refuse("maturitySource", maturitySource, ["explicit_invocation"]);
  const { retentionRequirement } = context;
  if (!SHORT_RETENTION.includes(retentionRequirement))
    refuse("context.retentionRequirement", retentionRequirement, SHORT_RETENTION);
  if (execution.billingMode) refuse("execution.billingMode", execution.billingMode, []);
  if (execution.credentialSource) refuse("execution.credentialSource", execution.credentialSource, []);
}

function refuse(field: string, value: string, allowed: readonly string[]): never {
  fail("PolicyRejected", `A panel session may not choose ${value} as ${field}.`, {
    policy: "panel",
    field,
    allowed: [...allowed],
  });
}
