import type { parseArgs } from "node:util";
import {
  BudgetEnforcement,
  BudgetPeriod,
  type HoldsResolved,
  IncreaseBudget,
  ResolveHold,
  ResolveHolds,
  SetBudget,
} from "@/server/contract/budgets";
import * as budgets from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";

export const BUDGET_FLAGS = {
  principal: { type: "string" },
  period: { type: "string" },
  enforcement: { type: "string" },
  "ceiling-micros": { type: "string" },
  "managed-only": { type: "boolean" },
  budget: { type: "string" },
  until: { type: "string" },
  state: { type: "string" },
  hold: { type: "string" },
  "charged-micros": { type: "string" },
  "not-charged": { type: "boolean" },
  charged: { type: "boolean" },
  "billing-mode": { type: "string" },
  capability: { type: "string" },
  provider: { type: "string" },
  before: { type: "string" },
  live: { type: "boolean" },
  "dry-run": { type: "boolean" },
  note: { type: "string" },
} as const;

type Flags = ReturnType<typeof parseArgs<{ options: typeof BUDGET_FLAGS }>>["values"] &
  Partial<Record<"organization" | "project" | "amount-micros" | "reason", string>> & { test?: boolean };

/** Reads flags and reports mistakes, identically for all commands. */
export type Reading = {
  needed(value: string | undefined, flag: string): string;
  oneOf<T extends string>(flag: string, allowed: readonly T[], given: string): T;
  check<S extends import("zod").ZodType>(schema: S, values: import("zod").input<S>): import("zod").output<S>;
  complain(message: string): never;
};

/** Runs a command about budgets or holds. Null if it is another command. */
export async function performBudgets(
  ctx: Ctx,
  command: string,
  flags: Flags,
  read: Reading,
): Promise<object | null> {
  const { needed, oneOf, check } = read;
  const micros = (flag: "ceiling-micros" | "amount-micros" | "charged-micros") => {
    const text = needed(flags[flag], flag);
    return /^\d{1,15}$/.test(text)
      ? Number(text)
      : read.complain(`--${flag} must be a whole number of micros.`);
  };
  switch (command) {
    case "budget set": {
      if (!flags.project && !flags.organization && !flags.principal)
        read.complain("Set one of --project, --organization or --principal.");
      if (flags.project && (flags.organization || flags.principal))
        read.complain("Use --project without --organization and --principal.");
      return budgets.set(
        ctx,
        check(SetBudget, {
          owner: {
            ...(flags.project ? { projectId: flags.project } : {}),
            ...(flags.organization ? { organizationId: flags.organization } : {}),
            ...(flags.principal ? { principalId: flags.principal } : {}),
          },
          ceilingMicros: micros("ceiling-micros"),
          period: oneOf("period", BudgetPeriod.options, needed(flags.period, "period")),
          enforcement: oneOf(
            "enforcement",
            BudgetEnforcement.options,
            needed(flags.enforcement, "enforcement"),
          ),
          managedOnly: flags["managed-only"] ?? false,
        }),
      );
    }
    case "budget list":
      return budgets.list(ctx, { organizationId: flags.organization, projectId: flags.project });
    case "budget increase":
      return budgets.increase(
        ctx,
        check(IncreaseBudget, {
          budgetId: needed(flags.budget, "budget"),
          amountMicros: micros("amount-micros"),
          until: needed(flags.until, "until"),
          reason: needed(flags.reason, "reason"),
        }),
      );
    case "budget clear-increase":
      return budgets.clearIncrease(ctx, needed(flags.budget, "budget"));
    case "budget remove":
      return budgets.remove(ctx, needed(flags.budget, "budget"));
    case "hold list":
      return budgets.listHolds(ctx, {
        organizationId: flags.organization,
        projectId: flags.project,
        limit: 200,
        ...(flags.state ? { state: oneOf("state", ["open", "ambiguous"] as const, flags.state) } : {}),
      });
    case "hold resolve": {
      if ((flags["charged-micros"] === undefined) === !flags["not-charged"])
        read.complain("Set either --charged-micros or --not-charged.");
      const found = flags["not-charged"]
        ? { notCharged: true as const }
        : { chargedMicros: micros("charged-micros") };
      const body = check(ResolveHold, { ...found, note: needed(flags.note, "note") });
      return budgets.resolveHold(ctx, needed(flags.hold, "hold"), body);
    }
    case "holds resolve":
      return resolveAll(ctx, flags, read);
    default:
      return null;
  }
}

/** Resolves all ambiguous holds that match, page by page, and adds up the figures; a dry run only counts. */
async function resolveAll(ctx: Ctx, flags: Flags, read: Reading): Promise<HoldsResolved> {
  if (Boolean(flags.charged) === Boolean(flags["not-charged"]))
    read.complain("Set either --charged or --not-charged.");
  if (flags.live && flags.test) read.complain("Use --live or --test, not both.");
  const mode = flags["billing-mode"];
  const asked = read.check(ResolveHolds, {
    filter: {
      organizationId: flags.organization,
      projectId: flags.project,
      billingMode: mode === undefined ? mode : read.oneOf("billing-mode", ["managed", "byok"] as const, mode),
      ...(flags.live || flags.test ? { isTest: flags.test ?? false } : {}),
      capabilityKey: flags.capability,
      provider: flags.provider,
      createdBefore: flags.before,
    },
    outcome: flags.charged ? "charged" : "not_charged",
    note: read.needed(flags.note, "note"),
    dryRun: flags["dry-run"] ?? false,
  });
  let { nextCursor: next, ...all } = await budgets.resolveHolds(ctx, asked);
  while (next) {
    const { nextCursor, dryRun: _, ...page } = await budgets.resolveHolds(ctx, { ...asked, cursor: next });
    for (const [figure, amount] of Object.entries(page)) all[figure as keyof typeof page] += amount;
    next = nextCursor;
  }
  return all;
}
