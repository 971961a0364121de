import { wholeDollars } from "@/components/blocks/money/money";
import { wordsOfCode } from "@/components/ui/wording";
import type { JsonObject } from "@/server/contract/common";

/** The text of a warning: a budget that only warns names the exceeded limit, other warnings have their own sentence. */
export function warningWords({ code, message, scope, period, ceiling }: JsonObject): string {
  if (typeof message === "string") return message;
  if (code !== "BudgetExceeded" || typeof ceiling !== "number" || typeof scope !== "string")
    return wordsOfCode(String(code));
  const owner = OWNERS[scope.split(":")[0] ?? ""] ?? "its caller";
  const per = period === "day" ? "daily " : period === "month" ? "monthly " : "";
  return `This job passes the ${per}limit of ${wholeDollars(ceiling)} of ${owner}. That budget warns and does not stop jobs.`;
}

const OWNERS: Record<string, string> = { project: "this project", organization: "the organization" };
