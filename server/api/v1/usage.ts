import { bytes, endpoint, raw } from "@/server/api/endpoint";
import { BillingSummary, BillingSummaryQuery, UsageExportQuery } from "@/server/contract/usage";
import * as usage from "@/server/domain/usage";

const tags = ["Billing"];
const auth = ["service_principal", "human_session"] as const;

export const billingSummary = endpoint({
  method: "GET",
  path: "/v1/billing/summary",
  summary: "What the last days came to",
  description:
    "Executions, cost, charges and units of the last `days` (7 to 90) of UTC, today with them: in total, by day, project, capability, provider, model, key or person, and billing mode; live and sandbox apart, never added up. An execution counts to the day it was submitted. What a provider's work cost is counted where it is known; `unknownCosts` says how often it is not. A key bound to a project sees that project.",
  tags,
  auth,
  scope: "billing:read",
  query: BillingSummaryQuery,
  output: BillingSummary,
  errors: [],
  run: (ctx, { query }) => usage.summary(ctx, query),
});

export const usageExport = endpoint({
  method: "GET",
  path: "/v1/billing/usage-export",
  summary: "Every execution of some days as a table of FOCUS 1.2",
  description:
    "CSV with the columns of FOCUS 1.2, one line for each ended execution that was submitted from the day `from` until the day before `to` (UTC, at most 92 days), and one more with ChargeClass `Correction` where a person decided about its charge later. Amounts are exact decimals; their sum is what the ledger charged. A key is told of the executions of its environment only. Columns that begin with `x_` are our own. A text that a spreadsheet would take for a formula begins with an apostrophe.",
  tags,
  auth,
  scope: "billing:read",
  query: UsageExportQuery,
  output: raw("text/csv"),
  errors: [],
  run: async (ctx, { query }) => {
    const { filename, content } = await usage.usageFile(ctx, query);
    return bytes({
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${filename}"`,
        "cache-control": "no-store",
      },
      body: content,
    });
  },
});
