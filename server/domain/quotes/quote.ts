import type { z } from "zod";
import type { Capability } from "@/server/capabilities/define";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { ReceiptPricing, RetailQuote } from "@/server/contract/pricing";
import { pool } from "@/server/db";
import { access } from "@/server/domain/access";
import { getCapability, modelIds, PRICING_VERSION, serviceFee, targetsOf } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { type Envelope, maturityOf, normalizeEnvelope } from "@/server/domain/envelope";
import { resolveInput } from "@/server/domain/inputs";
import { Fault, fail, ValidationFault } from "@/server/errors";
import { newId } from "@/server/ids";
import { type Micros, toMoney } from "@/server/money";
import type { Estimate } from "./estimate";
import { planExecution, type Wanted } from "./plan";

const LIFETIME_MS = 15 * 60_000;

/** The pricing block of a quote, a job or a receipt, as far as it is known at this point. */
export function pricingOf(
  estimate: Estimate,
  quoteId: string | null,
  expiresAt: Date | null,
  hash: string | null,
): ReceiptPricing {
  const money = (micros: Micros) => toMoney(micros);
  return {
    quote: {
      quoteId,
      kind: estimate.qualifier === "exact" ? "fixed" : "estimate",
      chargeBasis: money(estimate.expectedUpstreamMicros),
      serviceFee: money(serviceFee(estimate.expectedUpstreamMicros, estimate.serviceFeeBps)),
      customerTotal: money(estimate.expectedMicros),
      maximumCustomerTotal: money(estimate.maximumMicros),
      expiresAt: expiresAt?.toISOString() ?? null,
      pricingInputsHash: hash,
      qualifier: estimate.qualifier,
    },
    policy: { serviceFeeBps: estimate.serviceFeeBps, pricingMode: estimate.billingMode },
    mode: estimate.billingMode,
    estimatedProviderPriceBasisMicros: estimate.expectedUpstreamMicros,
    serviceInferenceFeeMicros: 0,
    pricingSnapshotIds: [estimate.pricingVersion],
    pricingVersion: estimate.pricingVersion,
    pricingInputFingerprint: hash,
    quoteId,
    resolvedRoute: estimate.route,
    estimatedCharge: money(estimate.expectedMicros),
    maximumAuthorizedCharge: money(estimate.maximumMicros),
    basisEstimated: money(estimate.expectedUpstreamMicros),
  };
}

/**
 * Prices a request without running, reserving or charging anything; the quote lives fifteen minutes and is sealed
 * to the hash of everything that prices or routes. `projectId` is used where the body names none.
 */
export async function quote(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
  projectId?: string,
): Promise<RetailQuote> {
  const capability = getCapability(capabilityKey);
  const envelope: Envelope<"quote"> = normalizeEnvelope("quote", raw);
  const project = await access.project(ctx, envelope.context.projectId ?? projectId, "capabilities:run");
  const environment = access.environment(ctx, project, envelope.context.environment);
  envelope.input = await resolveInput(project.id, envelope, raw.input !== undefined, ctx.now());
  const maturity = maturityOf({ matureContentTraits: [] }, project.settings);
  const missing = missingInputs(capability.input, envelope.input);
  const base = {
    capabilityKey: capability.key,
    missing,
    spending: "none" as const,
  };
  const plan = missing.length
    ? null
    : planExecution(capability, { id: project.id, environment }, { ...envelope, maturity });
  if (!plan) {
    return {
      ...base,
      status: "pricing_inputs_required",
      quoteId: null,
      estimateId: null,
      pricingVersion: PRICING_VERSION,
      pricingInputFingerprint: null,
      pricing: null,
      resolved: null,
      basis: {},
      expectedCharge: null,
      maximumAuthorizedCharge: null,
      expiresAt: null,
    };
  }
  const { estimate } = plan;
  const sealHash = plan.sealHash();
  // What is free has a price and no quote: there is nothing to hold anybody to.
  const sealed = estimate.route ? await seal(ctx, project.id, estimate, sealHash) : null;
  const quoteId = sealed?.quoteId ?? null;
  return {
    ...base,
    status: "ok",
    quoteId,
    estimateId: quoteId,
    pricingVersion: estimate.pricingVersion,
    pricingInputFingerprint: sealHash,
    pricing: pricingOf(estimate, quoteId, sealed?.expiresAt ?? null, sealHash),
    resolved: toResolved(estimate),
    basis: { ...estimate.bounds, qualifier: estimate.qualifier },
    expectedCharge: toMoney(estimate.expectedMicros),
    maximumAuthorizedCharge: toMoney(estimate.maximumMicros),
    expiresAt: sealed?.expiresAt.toISOString() ?? null,
    ...(capability.modality === "image"
      ? {
          routingAlternatives: alternativesTo(
            capability,
            { id: project.id, environment },
            { ...envelope, maturity },
            estimate.route,
          ),
        }
      : {}),
  };
}

async function seal(ctx: Ctx, projectId: string, estimate: Estimate, sealHash: string) {
  const now = ctx.now();
  const quoteId = newId("quote");
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await pool.query(
    "INSERT INTO retail_quote (id, project_id, hash, body, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
    [quoteId, projectId, sealHash, JSON.stringify(estimate), now, expiresAt],
  );
  return { quoteId, expiresAt };
}

/** The price of this request on each other model that could run it now. */
function alternativesTo(
  capability: Capability,
  project: { id: string; environment: string },
  envelope: Envelope<"quote"> & Pick<Wanted, "maturity">,
  chosen: Estimate["route"],
): NonNullable<RetailQuote["routingAlternatives"]> {
  const others = modelIds(targetsOf(capability).filter(({ model }) => !model.onlyByName));
  return others.flatMap((target) => {
    if (target === chosen?.key) return [];
    const { execution } = envelope;
    const unbound = {
      ...execution.executionConstraints,
      preferredModel: null,
      providerPin: null,
      maxCostUsd: null,
    };
    const wanted = {
      ...envelope,
      execution: { ...execution, executionConstraints: unbound },
      pin: { target },
    };
    try {
      const { estimate } = planExecution(capability, project, wanted);
      const { expectedMicros, maximumMicros } = estimate;
      const route = toResolved(estimate);
      return route
        ? [
            {
              ...route,
              expectedCharge: toMoney(expectedMicros),
              maximumAuthorizedCharge: toMoney(maximumMicros),
            },
          ]
        : [];
    } catch (cause) {
      if (cause instanceof Fault || cause instanceof ValidationFault) return []; // it cannot run this request
      throw cause;
    }
  });
}

function toResolved({ route, billingMode }: Estimate): RetailQuote["resolved"] {
  if (!route) return null;
  const { provider, model, key } = route;
  return { billingMode, provider, model, routeKey: key, vendor: provider, vendorModel: model };
}

/** Required input fields that are absent, as JSON pointers: without them there is no price. */
function missingInputs(schema: z.ZodType, input: Record<string, unknown>): string[] {
  const parsed = schema.safeParse(input);
  if (parsed.success) return [];
  return parsed.error.issues
    .filter(
      (issue) =>
        issue.code === "invalid_type" &&
        issue.path.length === 1 &&
        input[String(issue.path[0])] === undefined,
    )
    .map((issue) => `/input/${String(issue.path[0])}`);
}

/** A quote named at submission must be this project's, unexpired, and sealed to exactly this request. Answers its seal. */
export async function checkQuote(
  ctx: Ctx,
  projectId: string,
  quoteId: string,
  sealHash: string,
): Promise<NonNullable<Estimate["sealed"]>> {
  const mismatch = (reason: string): never =>
    fail(
      "QUOTE_MISMATCH",
      "The quote does not hold for this request; submit without execution.quoteId under a new idempotencyKey.",
      { reason },
    );
  if (!quoteId.startsWith("quote_")) mismatch(quoteId.startsWith("cq_") ? "commission_quote" : "not_a_quote");
  const { rows } = await pool.query<{ hash: string; expires_at: Date }>(
    "SELECT hash, expires_at FROM retail_quote WHERE id = $1 AND project_id = $2",
    [quoteId, projectId],
  );
  const found = rows[0];
  if (!found) return mismatch("unknown");
  if (found.expires_at <= ctx.now()) mismatch("expired");
  if (found.hash !== sealHash) mismatch("changed");
  return { hash: found.hash, expiresAt: found.expires_at.toISOString() };
}
