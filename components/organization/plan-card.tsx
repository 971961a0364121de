"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { useMutation } from "@/components/use-mutation";
import type { PlanSettingsView } from "@/server/contract/plan-settings";
import { FEATURE_NAMES, FEATURES, LIMIT_NAMES, LIMITS, shownLimit } from "./limit-words";

/** An organization's plan with its usage, and whether its executions may reach providers. */
export function PlanCards({ organizationId, isOwner }: { organizationId: string; isOwner: boolean }) {
  const { data } = useSuspenseQuery(useTRPC().organizations.plan.queryOptions({ organizationId }));
  return (
    <div className="space-y-4">
      <PlanCard settings={data} />
      <ExternalActions settings={data} isOwner={isOwner} />
    </div>
  );
}

function PlanCard({ settings }: { settings: PlanSettingsView }) {
  const off = FEATURE_NAMES.filter((feature) => !settings.features[feature]);
  return (
    <Card aria-labelledby="plan-title" className="overflow-hidden">
      <CardHeader id="plan-title" title={`Plan: ${settings.plan.displayName}`} hint={settings.plan.tagline} />
      <Table>
        <thead>
          <tr>
            <TableHead>Limit</TableHead>
            <TableHead className="text-right">Used</TableHead>
            <TableHead className="text-right">Allowed</TableHead>
          </tr>
        </thead>
        <tbody>
          {LIMIT_NAMES.map((limit) => {
            const used = limit in settings.used ? settings.used[limit as keyof typeof settings.used] : null;
            const most = settings.limits[limit];
            const isFull = used !== null && most !== null && used >= most;
            return (
              <TableRow key={limit} data-limit={limit}>
                <TableCell>{LIMITS[limit]}</TableCell>
                <TableCell className="text-right">
                  {isFull && (
                    <Badge tone="warn" className="mr-2">
                      At limit
                    </Badge>
                  )}
                  {used?.toLocaleString("en-US") ?? (
                    <span className="whitespace-nowrap text-muted">not counted</span>
                  )}
                </TableCell>
                <TableCell className="text-right">{shownLimit(most)}</TableCell>
              </TableRow>
            );
          })}
        </tbody>
      </Table>
      {off.length > 0 && (
        <p className="border-t border-line px-4 py-3 text-sm">
          Not in this plan: {off.map((feature) => FEATURES[feature].toLowerCase()).join(", ")}.
        </p>
      )}
      <p className="border-t border-line px-4 py-3 text-xs text-muted">
        An operator of this installation sets plans and limits.
      </p>
    </Card>
  );
}

function ExternalActions({ settings, isOwner }: { settings: PlanSettingsView; isOwner: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { organizationId, externalActions } = settings;
  const change = useMutation(
    trpc.organizations.setExternalActions.mutationOptions({
      onSuccess: (after) => toast.success(`External actions turned ${after.externalActions ? "on" : "off"}`),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.organizations.pathKey() }),
    }),
  );
  const set = (wanted: boolean) => change.mutate({ organizationId, externalActions: wanted });
  return (
    <Card aria-labelledby="external-title">
      <CardHeader
        id="external-title"
        title="External actions"
        hint={<Badge tone={externalActions ? "good" : "warn"}>{externalActions ? "on" : "off"}</Badge>}
        actions={
          isOwner &&
          (externalActions ? (
            <Confirm
              title="Turn off external actions?"
              description="New executions that would reach a provider are refused. Local and sandbox executions continue, and so do executions already admitted."
              action="Turn off"
              onConfirm={() => set(false)}
            >
              <Button size="sm" pending={change.isPending}>
                {" "}
                Turn off
              </Button>
            </Confirm>
          ) : (
            <Button size="sm" variant="primary" pending={change.isPending} onClick={() => set(true)}>
              {" "}
              Turn on
            </Button>
          ))
        }
      />
      <CardBody>
        <p className="text-sm">
          {externalActions
            ? "Executions may reach providers, through your accounts or the operator's."
            : "Executions that would reach a provider are refused. Local and sandbox executions continue."}
          {!isOwner && " Only owners can change this."}
        </p>
      </CardBody>
    </Card>
  );
}
