"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { formatUsd } from "@/components/jobs/format-usd";
import { PageHeader } from "@/components/shell/page-header";
import { toFailure, useTRPC } from "@/components/trpc";
import { type Bounds, requiredAmount } from "@/components/ui/amount";
import { AmountField } from "@/components/ui/amount-field";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { Fact, Facts } from "@/components/ui/facts";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ApprovalRules } from "@/server/contract/organizations";

const THRESHOLD: Bounds = { leastMicros: 0, mostMicros: 1e12, decimals: 6 };

/** A project's settings. */
export function SettingsRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: rules } = useSuspenseQuery(
    trpc.projects.approvalRules.queryOptions({ project_id: projectId }),
  );
  const { data: projects } = useSuspenseQuery(trpc.projects.list.queryOptions());
  const role = projects.find((each) => each.projectId === projectId)?.role;
  return (
    <>
      <PageHeader title="Settings">Rules for every job in this project.</PageHeader>
      <Card aria-labelledby="approvals-title" className="max-w-2xl">
        <CardHeader id="approvals-title" title="Approvals" />
        <CardBody>
          <p className="mb-4 text-sm text-muted">
            Jobs with an estimate above the threshold wait for a person's approval. After seven days without a
            decision they are canceled.
          </p>
          {role === "owner" || role === "admin" ? (
            <ApprovalForm rules={rules} />
          ) : (
            <Facts>
              <Fact name="Threshold">
                {rules.thresholdUsd === null ? "None" : formatUsd(rules.thresholdUsd)}
              </Fact>
              <Fact name="Separate approver">
                {rules.requireDifferentApprover ? "Required" : "Not required"}
              </Fact>
            </Facts>
          )}
        </CardBody>
      </Card>
    </>
  );
}

function ApprovalForm({ rules }: { rules: ApprovalRules }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isGuarded, setGuarded] = useState(rules.thresholdUsd !== null);
  const [isSecondPerson, setSecondPerson] = useState(rules.requireDifferentApprover);
  const save = useMutation(
    trpc.projects.setApprovalRules.mutationOptions({
      onSuccess: (fresh) => {
        queryClient.setQueryData(
          trpc.projects.approvalRules.queryKey({ project_id: rules.projectId }),
          fresh,
        );
        toast.success("Settings saved");
      },
      meta: { isShownInPlace: true },
    }),
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    save.mutate({
      project_id: rules.projectId,
      thresholdUsd: isGuarded ? requiredAmount(fields, "threshold") / 1_000_000 : null,
      requireDifferentApprover: isSecondPerson,
    });
  }

  return (
    <form onSubmit={submit} className="space-y-4">
      {save.error && (
        <Notice tone="bad" role="alert">
          {toFailure(save.error).message}
        </Notice>
      )}
      <div className="flex items-center gap-2">
        <Checkbox
          id="guarded"
          checked={isGuarded}
          onCheckedChange={(checked) => setGuarded(checked === true)}
        />
        <Label htmlFor="guarded" className="font-normal">
          Require approval for expensive jobs
        </Label>
      </div>
      {isGuarded && (
        <div className="max-w-56">
          <AmountField
            id="threshold"
            name="threshold"
            label="Threshold in US dollars"
            bounds={THRESHOLD}
            required
            micros={Math.round((rules.thresholdUsd ?? 1) * 1_000_000)}
          />
        </div>
      )}
      <div className="flex items-center gap-2">
        <Checkbox
          id="second-person"
          checked={isSecondPerson}
          onCheckedChange={(checked) => setSecondPerson(checked === true)}
        />
        <Label htmlFor="second-person" className="font-normal">
          Require an approver other than the submitter
        </Label>
      </div>
      <Button type="submit" variant="primary" pending={save.isPending}>
        Save
      </Button>
    </form>
  );
}
