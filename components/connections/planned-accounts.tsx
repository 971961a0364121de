"use client";
import { CircleCheck, Plug } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { useTRPC } from "@/components/data/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import type { OnboardingPlan, PlannedAccount } from "@/server/contract/connections";

/** The next account to connect; null when there is none left. */
export const nextOf = ({ accounts }: OnboardingPlan) =>
  accounts.find(({ state }) => state !== "connected") ?? null;

type Props = { plan: OnboardingPlan; canChange: boolean; onConnect: (provider: string) => void };

/** The accounts that a plan needs, each with its remaining action; the next one is highlighted. */
export function PlannedAccounts({ plan, canChange, onConnect }: Props) {
  const titles = new Map(plan.capabilities.map(({ key, title }) => [key, title]));
  const next = nextOf(plan);
  const unserved = plan.unserved.map((key) => titles.get(key) ?? key);
  return (
    <div className="space-y-3">
      <div role="status">
        {plan.status === "ready" ? (
          <Notice tone="good" title="Ready">
            {plan.explanation}
          </Notice>
        ) : (
          <p className="text-sm text-muted">{plan.explanation}</p>
        )}
      </div>
      <ul aria-label="Required accounts" className="divide-y divide-line">
        {plan.accounts.map((account) => (
          <li
            key={account.provider}
            className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0"
            data-account={account.provider}
          >
            <div className="min-w-0 flex-1 basis-64 space-y-1.5">
              <div className="flex flex-wrap items-center gap-2">
                <span className="text-sm font-medium">{account.title}</span>
                {account.state === "connected" && (
                  <Badge tone="good">
                    <CircleCheck aria-hidden />
                    Connected
                  </Badge>
                )}
                {account.state === "bind" && <Badge tone="busy">Connected elsewhere</Badge>}
              </div>
              <p className="text-xs text-muted">
                {account.unlocks.map((key) => titles.get(key) ?? key).join(", ")}
              </p>
            </div>
            {canChange && account.state === "connect" && (
              <Button
                size="sm"
                variant={account === next ? "primary" : "secondary"}
                aria-label={`Connect ${account.title} for this`}
                onClick={() => onConnect(account.provider)}
              >
                <Plug aria-hidden />
                Connect
              </Button>
            )}
            {canChange && account.state === "bind" && account.connectionId && (
              <UseHere
                plan={plan}
                connectionId={account.connectionId}
                account={account}
                isNext={account === next}
              />
            )}
          </li>
        ))}
      </ul>
      {unserved.length > 0 && (
        <Notice tone="warn" title="Not available">
          No provider that can be connected here serves {unserved.join(", ")}.
        </Notice>
      )}
      {!canChange && plan.status === "interaction_required" && (
        <p className="text-sm text-muted">Admins of your organization can connect accounts.</p>
      )}
    </div>
  );
}

function UseHere({
  plan,
  connectionId,
  account: { provider, title },
  isNext,
}: {
  plan: OnboardingPlan;
  connectionId: string;
  account: PlannedAccount;
  isNext: boolean;
}) {
  const trpc = useTRPC();
  const bind = useAction(trpc.connections.bind.mutationOptions(), { refresh: [trpc.connections.pathKey()] });
  return (
    <Button
      size="sm"
      variant={isNext ? "primary" : "secondary"}
      aria-label={`Use ${title} in ${plan.environment} for this`}
      pending={bind.isPending}
      onClick={() =>
        bind.mutate({
          organization_id: plan.organizationId,
          credential_id: connectionId,
          projectId: plan.projectId ?? "",
          environment: plan.environment,
          provider,
        })
      }
    >
      Use in {plan.environment}
    </Button>
  );
}
