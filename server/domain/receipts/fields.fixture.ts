import { expect } from "vitest";
import type { Receipt } from "@/server/contract/receipts";
import { isObject } from "@/server/platform/text/json";

/*
 * The fields of a receipt as its specification lists them, independent of our own schema. Every receipt has each of
 * them with this type, however its execution ended. A `?` after a type means that the value is null if it is unknown.
 */

type Shape = { [field: string]: string | Shape };

const MONEY = {
  amountMicros: "int",
  currency: "string",
  amountMinor: "int",
  display: "string",
} satisfies Shape;
const ARTIFACT = {
  artifactId: "string",
  mediaType: "string",
  kind: "string",
  downloadPath: "string?",
  sha256: "hex?",
  byteLength: "int?",
  label: "string?",
  filename: "string?",
  variantIndex: "int?",
  sliceCellId: "string?",
  slotStatus: "string?",
} satisfies Shape;

const RECEIPT: Shape = {
  receiptId: "string",
  jobId: "string",
  capabilityKey: "string",
  principalId: "string?",
  projectId: "string?",
  productId: "string?",
  environment: "string?",
  externalRef: "string?",
  tags: "array",
  metadata: "object",
  status: "string",
  admission: { admitted: "boolean", rejectionCode: "string?", rejectionMessage: "string?" },
  route: { provider: "string?", model: "string?", routeBundleVersion: "string?", routeBundleHash: "hex?" },
  timestamps: { createdAt: "date", startedAt: "date?", completedAt: "date" },
  provenance: {
    bundleVersion: "string?",
    bundleHash: "hex?",
    policyHash: "hex",
    receiptHash: "hex",
    execution: "string",
    engine: "string?",
    providerBacked: "boolean",
    modelBacked: "boolean",
    deterministic: "boolean",
  },
  artifacts: "array",
  text: "object?",
  media: "object?",
  routing: "object?",
  targetRouting: {
    profile: "string?",
    policyVersion: "string?",
    requestedTarget: "string?",
    resolvedTarget: "string?",
    substituted: "boolean",
  },
  benchmarkContext: "object?",
  customerSavings: "object?",
  estimatedCost: "number?",
  actualCost: "number?",
  currency: "string",
  processingTier: "string?",
  requestedProcessingTier: "string?",
  processingFallback: "object?",
  deferredDiscountBps: "int?",
  signature: { alg: "string", keyId: "string", value: "string" },
  pricing: {
    quote: {
      quoteId: "string?",
      kind: "string",
      chargeBasis: MONEY,
      serviceFee: MONEY,
      customerTotal: MONEY,
      maximumCustomerTotal: MONEY,
      expiresAt: "date?",
      pricingInputsHash: "hex?",
    },
    charge: "object?",
    providerUsage: { reportedCost: "object?", costBearer: "string" },
    providerCost: { amount: "object?", status: "string", basis: "string", priceScheduleId: "string?" },
    policy: { serviceFeeBps: "int", pricingMode: "string" },
    presentation: "object?",
    mode: "string?",
    estimatedProviderPriceBasisMicros: "int?",
    providerReportedCostMicros: "int?",
    observedUsage: "object?",
    serviceInferenceFeeMicros: "int",
    service: { serviceFeeRateBps: "int", inferenceFeeMicros: "int" },
    customerCharge: "object?",
    executionPlanId: "string?",
    pricingSnapshotIds: "array",
    quoteId: "string?",
    pricingVersion: "string?",
    pricingInputFingerprint: "hex?",
    resolvedRoute: "object?",
    estimatedCharge: "object?",
    maximumAuthorizedCharge: "object?",
    actualCharge: "object?",
    basisEstimated: "object?",
    basisActual: "object?",
    price: "object?",
    fundingSource: "string?",
    trialCoveredMicros: "int?",
    customerDebitedMicros: "int?",
    discountedUpstreamBasisMicros: "int?",
    chargeState: "string",
  },
};

/** The fields of groups that are null on some receipts. */
const WHEN_PRESENT: Record<string, Shape> = {
  routing: {
    routingPolicy: "string",
    selectedPlanId: "string",
    selectionReason: "string",
    eligiblePlanIds: "array",
    taskFamily: "string?",
    computeLevel: "string?",
    serviceClass: "string?",
    validationGate: "object?",
    authorizedFallbackPlanIds: "array",
    evidenceConfidence: "number?",
    evidenceSourceIds: "array",
  },
  "pricing.charge": { customerCharge: MONEY, customerDebit: MONEY, chargedAt: "date?" },
  "pricing.providerCost.amount": MONEY,
  "pricing.customerCharge": {
    upstreamMicros: "int",
    serviceFeeMicros: "int",
    customerTotalMicros: "int",
    currency: "string",
    lineItems: "array",
  },
  "pricing.estimatedCharge": MONEY,
  "pricing.maximumAuthorizedCharge": MONEY,
  "pricing.actualCharge": MONEY,
  "pricing.basisEstimated": MONEY,
  "pricing.basisActual": MONEY,
  "pricing.price": MONEY,
};
const LINE_ITEM: Shape = {
  label: "string",
  upstreamMicros: "int",
  serviceFeeMicros: "int",
  includedProcessing: "boolean",
};

const isType: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  int: Number.isSafeInteger,
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => isObject(value),
  hex: (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value),
  date: (value) => typeof value === "string" && new Date(value).toISOString() === value,
};

/** Returns a line for each field that is missing or has another type, with its path. */
function faultsOf(value: unknown, shape: Shape, path = ""): string[] {
  const holder = value as Record<string, unknown>; // a receipt, or a part of one that is an object
  return Object.entries(shape).flatMap(([field, wanted]) => {
    const at = path ? `${path}.${field}` : field;
    const found = holder[field];
    if (found === undefined) return [`${at} is missing`];
    if (typeof wanted !== "string")
      return isType.object?.(found) ? faultsOf(found, wanted, at) : [`${at} is no object`];
    const type = wanted.replace("?", "");
    if (found === null) return wanted.endsWith("?") ? [] : [`${at} is null`];
    return isType[type]?.(found) ? [] : [`${at} is no ${type}: ${JSON.stringify(found)}`];
  });
}

const valueAt = (value: unknown, path: string) =>
  path.split(".").reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], value);

export function checkWhole(receipt: Receipt): void {
  const faults = faultsOf(receipt, RECEIPT);
  for (const [path, shape] of Object.entries(WHEN_PRESENT)) {
    const group = valueAt(receipt, path);
    if (group !== null) faults.push(...faultsOf(group, shape, path));
  }
  for (const artifact of receipt.artifacts) faults.push(...faultsOf(artifact, ARTIFACT, "artifacts[]"));
  const { customerCharge } = receipt.pricing;
  for (const item of customerCharge?.lineItems ?? [])
    faults.push(...faultsOf(item, LINE_ITEM, "lineItems[]"));
  expect(faults).toEqual([]);
  // The lines of a charge add up to its parts, and the parts to its total.
  if (customerCharge) {
    const sum = (name: "upstreamMicros" | "serviceFeeMicros") =>
      customerCharge.lineItems.reduce((total, item) => total + item[name], 0);
    expect(sum("upstreamMicros")).toBe(customerCharge.upstreamMicros);
    expect(sum("serviceFeeMicros")).toBe(customerCharge.serviceFeeMicros);
    expect(customerCharge.customerTotalMicros).toBe(
      customerCharge.upstreamMicros + customerCharge.serviceFeeMicros,
    );
  }
}
