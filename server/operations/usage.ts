import { csv } from "@/server/api/answers/csv";
import { raw } from "@/server/api/endpoint";
import { BillingSummary, BillingSummaryQuery, UsageExportQuery } from "@/server/contract/usage";
import * as usage from "@/server/domain/usage";
import { byKeysAndPeople, operations } from "./define";

const read = operations("Billing", byKeysAndPeople("billing:read"));

export const billingSummary = read.get("/v1/billing/summary", {
  summary: "Retrieve a usage summary",
  description:
    "Executions, cost, charges and units of the last `days` (7 to 90, in UTC, including today): in total and by day, project, capability, provider, model, caller (key or person) and billing mode. Live and sandbox figures are separate and never added up. An execution counts on the day it was submitted. A provider's cost is included if it is known; `unknownCosts` counts the executions where it is not. A key bound to a project sees only that project.",
  query: BillingSummaryQuery,
  output: BillingSummary,
  run: (ctx, { query }) => usage.summary(ctx, query),
});

export const usageExport = read.get("/v1/billing/usage-export", {
  summary: "Export usage as FOCUS 1.2 CSV",
  description:
    "One line per ended execution submitted from the day `from` up to, but not including, the day `to` (UTC, at most 92 days), and a second line with ChargeClass `Correction` if a person later changed its charge. Amounts are exact decimals, and the sum of `x_Charge` is what the ledger charged, test money included. BilledCost and EffectiveCost have live money only; ListCost of an own provider account is the provider's list price. Columns that start with `x_` are specific to Capstan. Text that a spreadsheet would read as a formula is prefixed with an apostrophe.",
  query: UsageExportQuery,
  output: raw("text/csv"),
  http: async (ctx, { query }) => csv(await usage.usageFile(ctx, query)),
});
