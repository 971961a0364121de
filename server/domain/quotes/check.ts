import { PRICING_VERSION } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { retailQuote } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { microsToUsd } from "@/server/platform/money";
import { maybe, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { Estimate } from "./estimate";
import type { ExecutionPlan } from "./plan";
import type { Seal } from "./seal";

/** Stored content of a quote: its estimate, and the hashes of the sealed parts. */
export type QuoteBody = Estimate & { seal: Seal["parts"] };

/** Prefixes of ids that price something other than an execution. */
const OTHER_KINDS: Record<string, string> = {
  cq_: "commission_quote",
  cmp_: "comparison_estimate",
  cent_: "comparison_estimate",
};

function mismatch(reason: string, more: { fields?: string[] } = {}): never {
  fail(
    "QUOTE_MISMATCH",
    "The quote does not match this request, so nothing ran. Request a new quote, or submit without execution.quoteId and with a new idempotencyKey.",
    { reason, ...more },
  );
}

const findQuote = statement("quote.find.project", {
  params: { quoteId: text, projectId: text, principalId: maybe(text) },
  row: pick(retailQuote, "hash body expires_at"),
  sql: `SELECT hash, body, expires_at FROM retail_quote WHERE id = $quoteId AND project_id = $projectId
       AND ($principalId::text IS NULL OR principal_id = $principalId)`,
});

/**
 * Checks the quote of a submission and returns its seal. Throws QUOTE_MISMATCH with the reason unless the
 * quote belongs to the project (to the same session for a panel session), is unexpired and is sealed to
 * exactly this request. Throws REESTIMATE_REQUIRED if the price list or the route has changed, or the price
 * has risen.
 */
export async function checkQuote(
  ctx: Ctx,
  projectId: string,
  quoteId: string,
  plan: Pick<ExecutionPlan, "seal" | "estimate">,
): Promise<NonNullable<Estimate["sealed"]>> {
  if (!quoteId.startsWith("quote_"))
    mismatch(OTHER_KINDS[/^[a-z]+_/.exec(quoteId)?.[0] ?? ""] ?? "not_a_quote");
  const found = await findQuote.first(pool, {
    quoteId,
    projectId,
    principalId: ctx.principal.kind === "panel_session" ? ctx.principal.id : null,
  });
  if (!found) return mismatch("unknown");
  if (found.expires_at <= ctx.now()) mismatch("expired");
  const quoted = found.body;
  if (quoted.pricingVersion !== PRICING_VERSION) requireReestimate("pricing_version", quoted, plan.estimate);
  const seal = await plan.seal();
  if (found.hash !== seal.hash) {
    const { parts } = seal;
    const named = new Set([...Object.keys(parts), ...Object.keys(quoted.seal)]);
    const fields = [...named].filter((part) => parts[part] !== quoted.seal[part]);
    mismatch("changed", { fields });
  }
  const { route, billingMode, maximumMicros } = plan.estimate;
  if (route?.key !== quoted.route?.key || billingMode !== quoted.billingMode)
    requireReestimate("route", quoted, plan.estimate);
  if (maximumMicros > quoted.maximumMicros) requireReestimate("price", quoted, plan.estimate);
  return { hash: found.hash, expiresAt: found.expires_at.toISOString() };
}

function requireReestimate(reason: string, quoted: Estimate, now: Estimate): never {
  fail("REESTIMATE_REQUIRED", "The route or price changed since the quote. Request a new quote.", {
    reason,
    pricingVersion: PRICING_VERSION,
    quotedPricingVersion: quoted.pricingVersion,
    quotedMaximum: microsToUsd(quoted.maximumMicros),
    maximum: microsToUsd(now.maximumMicros),
  });
}
