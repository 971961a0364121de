import type { z } from "zod";
import type { Capability } from "@/server/capabilities/define";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { ReceiptPricing, RetailQuote } from "@/server/contract/pricing";
import { access } from "@/server/domain/access";
import { presentationFor, toPresentationMoney } from "@/server/domain/billing";
import { getCapability, modelIds, PRICING_VERSION, serviceFee, targetsOfPort } from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { embedInput } from "@/server/domain/embeds";
import { type Envelope, maturityOf, normalizeEnvelope } from "@/server/domain/envelope";
import { retailQuote } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { type Micros, toMoney } from "@/server/platform/money";
import { turn } from "@/server/platform/time/turn";
import { MINUTE_MS } from "@/server/platform/time/units";
import { timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { QuoteBody } from "./check";
import { describeAdapters } from "./describe-adapters";
import type { Estimate } from "./estimate";
import { fundedFor, type PlannedFor, planExecution } from "./plan";
import type { RoutingRequest } from "./routing-request";
import type { Seal } from "./seal";

const LIFETIME_MS = 15 * MINUTE_MS;

/** Builds the pricing block of a quote, job or receipt from the facts known so far. */
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
      // The number of tokens of an answer is not known before it, so its price is not fixed.
      kind:
        estimate.qualifier === "exact" && estimate.bounds.outputTokens === undefined ? "fixed" : "estimate",
      chargeBasis: money(estimate.expectedUpstreamMicros),
      serviceFee: money(serviceFee(estimate.expectedUpstreamMicros, estimate.serviceFeeBps)),
      customerTotal: money(estimate.expectedMicros),
      maximumCustomerTotal: money(estimate.maximumMicros),
      expiresAt: expiresAt?.toISOString() ?? null,
      pricingInputsHash: hash,
      qualifier: estimate.qualifier,
    },
    // Limits and approvals compare the totals above, but a customer with their own account owes the service
    // nothing.
    ...(estimate.billingMode === "byok"
      ? { charge: { customerCharge: money(0), customerDebit: money(0), chargedAt: null } }
      : {}),
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
    presentation: estimate.fx ? toPresentationMoney(estimate.expectedMicros, estimate.fx) : null,
  };
}

/**
 * Prices a request without running, reserving or charging anything. The quote is valid for fifteen minutes
 * and sealed to the hash of everything that prices or routes. `projectId` applies if the body names no
 * project.
 */
export async function quote(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
  projectId?: string,
): Promise<RetailQuote> {
  const capability = getCapability(capabilityKey);
  const envelope: Envelope<"quote"> = normalizeEnvelope("quote", raw);
  const { context } = envelope;
  const named = { body: context.projectId, query: projectId };
  const project = await access.authorize(ctx, "capabilities:run", {
    place: {
      projectId: await access.namedProject(ctx, "capabilities:run", named),
      environment: context.environment,
    },
  });
  const { environment } = project;
  envelope.input = await embedInput(ctx, project, {
    capabilityKey: capability.key,
    asked: envelope,
    isInline: raw.input !== undefined,
  });
  const maturity = maturityOf({ matureContentTraits: [] }, project.settings);
  const { missing, parsedInput } = readInput(capability.input, envelope.input);
  const base = {
    capabilityKey: capability.key,
    missing,
    spending: "none" as const,
  };
  const isFunded = await fundedFor(capability, project.organizationId, envelope);
  const place = { id: project.id, environment, outputsOf: access.outputsOf(ctx) };
  const plan = missing.length
    ? null
    : await planExecution(capability, place, {
        ...envelope,
        parsedInput,
        maturity,
        isFunded,
        now: ctx.now(),
      });
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
  const fx = presentationFor(project.organizationSettings);
  const estimate = fx ? { ...plan.estimate, fx } : plan.estimate;
  const seal = await plan.seal();
  // Free work gets a price but no quote, because there is nothing to commit to.
  const kept = estimate.route ? await keep(ctx, project.id, estimate, seal) : null;
  const quoteId = kept?.quoteId ?? null;
  return {
    ...base,
    status: "ok",
    quoteId,
    estimateId: quoteId,
    pricingVersion: estimate.pricingVersion,
    pricingInputFingerprint: seal.hash,
    pricing: pricingOf(estimate, quoteId, kept?.expiresAt ?? null, seal.hash),
    resolved: toResolved(estimate),
    basis: {
      ...estimate.bounds,
      qualifier: estimate.qualifier,
      processing: estimate.processing,
      deferredDiscountBps: estimate.deferredDiscountBps,
      ...(estimate.adapters ? { adapters: describeAdapters(estimate.adapters) } : {}),
    },
    expectedCharge: toMoney(estimate.expectedMicros),
    maximumAuthorizedCharge: toMoney(estimate.maximumMicros),
    expiresAt: kept?.expiresAt.toISOString() ?? null,
    ...(capability.modality === "image"
      ? {
          routingAlternatives: await alternativesTo(
            capability,
            place,
            { ...envelope, parsedInput, maturity, adapters: plan.adapters, material: plan.material },
            estimate.route,
          ),
        }
      : {}),
  };
}

const insertQuote = statement("quote.insert", {
  params: {
    quoteId: retailQuote.id,
    projectId: retailQuote.project_id,
    principalId: retailQuote.principal_id,
    hash: retailQuote.hash,
    body: retailQuote.body,
    now: timestamptz,
    expiresAt: timestamptz,
  },
  sql: `INSERT INTO retail_quote (id, project_id, principal_id, hash, body, created_at, expires_at)
     VALUES ($quoteId, $projectId, $principalId, $hash, $body, $now, $expiresAt)`,
});

async function keep(ctx: Ctx, projectId: string, estimate: Estimate, { hash, parts }: Seal) {
  const now = ctx.now();
  const quoteId = newId("quote");
  const body: QuoteBody = { ...estimate, seal: parts };
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await insertQuote.run(pool, {
    quoteId,
    projectId,
    principalId: ctx.principal.id,
    hash,
    body,
    now,
    expiresAt,
  });
  return { quoteId, expiresAt };
}

/** Prices this request on each other model that could run it now. */
async function alternativesTo(
  capability: Capability,
  project: PlannedFor,
  envelope: Envelope<"quote"> & Pick<RoutingRequest, "parsedInput" | "maturity" | "adapters" | "material">,
  chosen: Estimate["route"],
): Promise<NonNullable<RetailQuote["routingAlternatives"]>> {
  const targets = targetsOfPort(capability, await connectionsOf(project));
  const others = modelIds(targets.filter(({ model }) => !model.onlyByName));
  const priced: NonNullable<RetailQuote["routingAlternatives"]> = [];
  for (const target of others.filter((other) => other !== chosen?.key)) {
    await turn();
    const price = await priceOn(target, capability, project, envelope);
    if (price) priced.push(price);
  }
  return priced;
}

/** Prices a request on one model without the caller's own ceilings; null if the model cannot run it now. */
async function priceOn(
  target: string,
  capability: Capability,
  project: PlannedFor,
  envelope: Envelope<"quote"> & Pick<RoutingRequest, "parsedInput" | "maturity" | "adapters" | "material">,
): Promise<NonNullable<RetailQuote["routingAlternatives"]>[number] | null> {
  const { execution } = envelope;
  const unbound = {
    ...execution.executionConstraints,
    preferredModel: null,
    providerPin: null,
    maxCostUsd: null,
  };
  const wanted = {
    ...envelope,
    execution: { ...execution, maximumCharge: null, executionConstraints: unbound },
    budget: null,
    pin: { target },
  };
  try {
    const { estimate } = await planExecution(capability, project, wanted);
    const route = toResolved(estimate);
    return (
      route && {
        ...route,
        expectedCharge: toMoney(estimate.expectedMicros),
        maximumAuthorizedCharge: toMoney(estimate.maximumMicros),
      }
    );
  } catch (cause) {
    if (cause instanceof Fault || cause instanceof ValidationFault) return null;
    throw cause;
  }
}

function toResolved({ route, billingMode }: Estimate): RetailQuote["resolved"] {
  if (!route) return null;
  const { provider, model, key } = route;
  return { billingMode, provider, model, routeKey: key, vendor: provider, vendorModel: model };
}

/**
 * Parses an input. If that fails, returns the required fields that it lacks, as JSON pointers; with none
 * missing, the plan refuses the input with its faults.
 */
function readInput(
  schema: z.ZodType,
  input: Record<string, unknown>,
): { missing: string[]; parsedInput?: unknown } {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { missing: [], parsedInput: parsed.data };
  const missing = parsed.error.issues
    .filter(
      (issue) =>
        issue.code === "invalid_type" &&
        issue.path.length === 1 &&
        input[String(issue.path[0])] === undefined,
    )
    .map((issue) => `/input/${String(issue.path[0])}`);
  return { missing };
}
