import { providerOfRoute } from "@/server/domain/connections";
import { type Cell, decimalOf } from "@/server/platform/text/csv";
import type { UsageScope } from "./scope";

/** An ended execution with its hold and charge. */
export type ExportRow = {
  id: string;
  project_id: string;
  environment: string;
  product_id: string;
  principal_id: string;
  capability_key: string;
  provider: string;
  model: string;
  mode: string;
  status: string;
  billing_mode: string;
  external_ref: string | null;
  tags: string[];
  pricing_version: string;
  created_at: Date;
  completed_at: Date;
  /** The provider's cost, as known at the end. */
  actual_micros: number | null;
  /** The provider's cost, as known now. */
  cost_micros: number | null;
  receipt_id: string | null;
  hold_state: "settled" | "released" | "ambiguous" | null;
  charged_micros: number;
  funding: "allowance" | "wallet" | null;
  resolved_by: string | null;
  resolved_at: Date | null;
  fee_micros: number;
  input_tokens: number | null;
  output_tokens: number | null;
  images: number | null;
  is_test: boolean;
  /** True if the cost is an estimate because the provider reported no usage. */
  is_estimated: boolean;
  /** Id of the line: the execution's own, or that of its comparison until the judgement. */
  line_id: string;
};

/** Charge of one line: the execution as it ended, or a later correction by a person. */
type Charge = { isCorrection: boolean; micros: number; feeMicros: number; billedAt: Date };

/**
 * Returns the lines of an execution: one for its use, and another if its charge was open and resolved later.
 * The first line stays as it was exported before the resolution.
 */
export function chargesOf(row: ExportRow): Charge[] {
  const whole = { micros: row.charged_micros, feeMicros: row.fee_micros };
  if (row.resolved_by === null || row.resolved_at === null)
    return [{ isCorrection: false, ...whole, billedAt: row.created_at }];
  return [
    { isCorrection: false, micros: 0, feeMicros: 0, billedAt: row.created_at },
    { isCorrection: true, ...whole, billedAt: row.resolved_at },
  ];
}

const text = (value: string | null): Cell => (value ? { text: value } : null);
const figure = (value: number | null): Cell => (value === null ? null : { figure: String(value) });
const money = (micros: number | null): Cell => (micros === null ? null : { figure: decimalOf(micros) });
/** FOCUS writes times to the second. */
const time = (at: Date): Cell => ({ text: `${at.toISOString().slice(0, 19)}Z` });
const dayStart = (at: Date, days = 0) =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + days));
const monthStart = (at: Date, months = 0) =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months));

/** Status of an unjudged comparison. */
const UNJUDGED = "unjudged";
const OURS = "Capstan";
const nameOf = (provider: string) => providerOfRoute(provider)?.title ?? provider;
/** Vendor of the service that was used. */
const publisherOf = (row: ExportRow) => (row.provider ? nameOf(row.provider) : OURS);
const skuOf = (row: ExportRow) => (row.provider ? `${row.provider}/${row.model}` : row.capability_key);

const isInference = (row: ExportRow) => row.provider !== "" || row.status === UNJUDGED;

/** Returns the used quantity in its pricing unit; null if the provider did not report it. */
function meterOf(row: ExportRow): { quantity: number | null; unit: string } {
  if (row.images !== null) return { quantity: row.images, unit: "Images" };
  if (row.input_tokens !== null || row.output_tokens !== null)
    return { quantity: (row.input_tokens ?? 0) + (row.output_tokens ?? 0), unit: "Tokens" };
  return row.provider ? { quantity: null, unit: "Tokens" } : { quantity: 1, unit: "Executions" };
}

type Column = readonly [name: string, of: (row: ExportRow, charge: Charge, scope: UsageScope) => Cell];

/** Leaves the column empty on a correction, which uses nothing again. */
const used = (of: (row: ExportRow) => Cell): Column[1] => {
  return (row, { isCorrection }) => (isCorrection ? null : of(row));
};
/**
 * Live money of the charge. An invoice excludes test money and amounts that a provider bills to the
 * customer's own account.
 */
const billed: Column[1] = ({ is_test }, { micros }) => money(is_test ? 0 : micros);
const charged: Column[1] = (_row, { micros }) => money(micros);
/**
 * FOCUS requires a figure on each line. For an own account it is the provider's list price as far as known;
 * x_ProviderCostStatus tells whether it is known. A correction has the difference to the first line.
 */
const listed: Column[1] = (row, charge, scope) => {
  if (row.billing_mode !== "byok") return charged(row, charge, scope);
  const { actual_micros: atEnd, cost_micros: now } = row;
  return money(charge.isCorrection ? (now ?? 0) - (atEnd ?? 0) : (atEnd ?? 0));
};
/** The line of the use has the cost known at its end, a correction the cost known now. */
const providerCostOf = (row: ExportRow, { isCorrection }: Charge) =>
  isCorrection ? row.cost_micros : row.actual_micros;
const basisOf = ({ actual_micros, is_estimated }: ExportRow) =>
  actual_micros === null ? "unknown" : is_estimated ? "estimated" : "reported";
const quantity = used((row) => figure(meterOf(row).quantity));
const unit = used((row) => (meterOf(row).quantity === null ? null : text(meterOf(row).unit)));

/**
 * Columns of FOCUS 1.2 that an execution can fill, with their standard names and meanings, followed by our
 * own.
 */
export const FOCUS_COLUMNS: readonly Column[] = [
  ["BilledCost", billed],
  ["EffectiveCost", billed],
  ["ListCost", listed],
  ["ContractedCost", charged],
  ["BillingCurrency", () => text("USD")],
  ["BillingAccountId", (_row, _charge, scope) => text(scope.organizationId)],
  ["BillingAccountName", (_row, _charge, scope) => text(scope.organizationName)],
  ["BillingAccountType", () => text("Organization")],
  ["SubAccountId", (row) => text(row.project_id)],
  ["SubAccountName", (row, _charge, scope) => text(scope.projects.get(row.project_id) ?? null)],
  ["SubAccountType", () => text("Project")],
  ["BillingPeriodStart", (_row, { billedAt }) => time(monthStart(billedAt))],
  ["BillingPeriodEnd", (_row, { billedAt }) => time(monthStart(billedAt, 1))],
  ["ChargePeriodStart", (row) => time(dayStart(row.created_at))],
  ["ChargePeriodEnd", (row) => time(dayStart(row.created_at, 1))],
  ["ChargeCategory", () => text("Usage")],
  ["ChargeClass", (_row, { isCorrection }) => text(isCorrection ? "Correction" : null)],
  [
    "ChargeDescription",
    (row, { isCorrection }) =>
      text(`${isCorrection ? "Correction: " : ""}${row.capability_key} by ${skuOf(row)}`),
  ],
  ["ChargeFrequency", () => text("Usage-Based")],
  ["ConsumedQuantity", quantity],
  ["ConsumedUnit", unit],
  ["PricingQuantity", quantity],
  ["PricingUnit", unit],
  ["PricingCategory", () => text("Standard")],
  ["PricingCurrency", () => text("USD")],
  ["ProviderName", () => text(OURS)],
  ["PublisherName", (row) => text(publisherOf(row))],
  ["InvoiceIssuerName", (row) => text(row.billing_mode === "byok" ? publisherOf(row) : OURS)],
  ["ServiceName", (row) => text(row.capability_key)],
  ["ServiceCategory", (row) => text(isInference(row) ? "AI and Machine Learning" : "Compute")],
  ["ServiceSubcategory", (row) => text(isInference(row) ? "Generative AI" : "Serverless Compute")],
  ["SkuId", (row) => text(skuOf(row))],
  ["SkuPriceId", (row) => text(`${row.pricing_version}:${skuOf(row)}`)],
  ["SkuMeter", (row) => text(meterOf(row).unit)],
  ["ResourceId", (row) => text(row.id)],
  ["ResourceName", (row) => text(row.external_ref ?? row.id)],
  ["ResourceType", (row) => text(row.status === UNJUDGED ? "Comparison" : "Execution")],
  ["RegionId", () => null],
  ["RegionName", () => null],
  ["Tags", (row) => text(JSON.stringify(Object.fromEntries(row.tags.map((tag) => [tag, true]))))],
  ["x_Fee", (_row, { feeMicros }) => money(feeMicros)],
  ["x_ProviderCost", (row, charge) => money(providerCostOf(row, charge))],
  ["x_ProviderCostStatus", (row, charge) => text(providerCostOf(row, charge) === null ? "unknown" : "known")],
  ["x_FundingSource", (row) => text(row.funding ?? (row.billing_mode === "byok" ? "own_account" : "none"))],
  ["x_BillingMode", (row) => text(row.billing_mode)],
  ["x_IsTest", (row) => text(String(row.is_test))],
  ["x_Status", (row) => text(row.status)],
  [
    "x_HoldState",
    // State at the time of the line: the use stays as exported, and the correction shows the change.
    (row, { isCorrection }) =>
      text(row.resolved_by !== null && !isCorrection ? "ambiguous" : (row.hold_state ?? "none")),
  ],
  ["x_ReceiptId", (row) => text(row.receipt_id)],
  ["x_PrincipalId", (row) => text(row.principal_id)],
  ["x_Environment", (row) => text(row.environment)],
  ["x_ProductId", (row) => text(row.product_id)],
  ["x_ExecutionMode", (row) => text(row.mode)],
  ["x_InputTokens", used((row) => figure(row.input_tokens))],
  ["x_OutputTokens", used((row) => figure(row.output_tokens))],
  ["x_Images", used((row) => figure(row.images))],
  ["x_SubmittedAt", (row) => text(row.created_at.toISOString())],
  ["x_CompletedAt", (row) => text(row.completed_at.toISOString())],
  ["x_Charge", charged],
  ["x_ProviderCostBasis", used((row) => text(basisOf(row)))],
];
