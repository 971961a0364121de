import { canonicalText } from "@/server/canonical";
import { openContent, type StoredContent } from "@/server/content";
import { TERMINAL } from "@/server/contract/jobs";
import { pool } from "@/server/db";
import type { Json } from "@/server/step";
import { entryPlaceOf, type Veil } from "./blind";
import { isObject, withPrompt } from "./prompt";
import type { JobRow } from "./rows";

/** What of a request says by whom or how it is to be done: of a blind job never shown. */
const CONSTRAINTS = new Set(["execution", "sampling", "budget"]);

/** What a view of a blind job needs beyond its rows; undefined for every other job, and nothing is read then. */
export async function veilOf(job: JobRow): Promise<Veil | undefined> {
  if (!job.is_blind) return undefined;
  const [place, request] = await Promise.all([entryPlaceOf(job), sharedRequestOf(job)]);
  const { input } = request;
  return { place, request: isObject(input) ? { ...request, input: withPrompt(input) } : request };
}

/**
 * What was asked of all competitors alike: fields of the request and of its input that say the same for each. Where the
 * content of one is not kept (any more), nobody can tell, and nothing of it is shown.
 */
export async function sharedRequestOf(job: JobRow): Promise<Record<string, Json>> {
  const known = {
    capability: job.capability_key,
    productId: job.product_id,
    environment: job.environment,
  };
  if (job.retention_requirement === "HashesOnly" && TERMINAL.includes(job.status)) return known;
  const { rows } = await pool.query<StoredContent>({
    name: "requests-of-comparison",
    text: `SELECT payload.id, payload.content, payload.is_sealed FROM job competitor
      LEFT JOIN payload ON payload.project_id = competitor.project_id AND payload.job_id = competitor.id AND payload.kind = 'request'
      WHERE competitor.organization_id = $1 AND competitor.project_id = $2 AND competitor.comparison_id = $3
        AND competitor.is_blind`,
    values: [job.organization_id, job.project_id, job.comparison_id],
  });
  const requests = rows.map((row) => {
    const content = row.id === null ? null : openContent(row);
    return content === null ? null : (JSON.parse(content) as Record<string, Json>); // written by admission
  });
  const whole = requests.filter((each) => each !== null);
  if (whole.length < requests.length || whole.length < 2) return known;
  const { input: _, ...shared } = sharedBy(whole, CONSTRAINTS);
  const input = sharedBy(whole.map((each) => each.input as Record<string, Json>)); // an object by the envelope's schema
  return { ...shared, ...known, input };
}

/** The fields that say the same in each. */
function sharedBy(objects: Record<string, Json>[], but: ReadonlySet<string> = new Set()) {
  const [first = {}, ...others] = objects;
  return Object.fromEntries(
    Object.entries(first).filter(
      ([name, value]) =>
        !but.has(name) &&
        others.every((each) => name in each && canonicalText(each[name]!) === canonicalText(value)),
    ),
  );
}
