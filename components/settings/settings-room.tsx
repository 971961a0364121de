"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { CheckField, MoneyField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { wholeDollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import type { AmountBounds } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import type { ApprovalRules } from "@/server/contract/organizations";

const THRESHOLD: AmountBounds = { leastMicros: 0, mostMicros: 1e12, decimals: 6 };

/** A project's settings. */
export function SettingsRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: rules } = useSuspenseQuery(
    trpc.projects.approvalRules.queryOptions({ project_id: projectId }),
  );
  const { may } = useProject(projectId);
  return (
    <>
      <PageHeader title="Settings">Rules for every job in this project.</PageHeader>
      <Section title="Approvals" className="max-w-2xl">
        <p className="mb-4 text-sm text-muted">
          Jobs with an estimate above the threshold wait for a person's approval. After seven days without a
          decision they are canceled.
        </p>
        {may("admin") ? (
          <ApprovalForm rules={rules} />
        ) : (
          <Facts>
            <Fact name="Threshold">
              {rules.thresholdUsd === null ? "None" : wholeDollars(rules.thresholdUsd)}
            </Fact>
            <Fact name="Separate approver">
              {rules.requireDifferentApprover ? "Required" : "Not required"}
            </Fact>
          </Facts>
        )}
      </Section>
    </>
  );
}

function ApprovalForm({ rules }: { rules: ApprovalRules }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isGuarded, setGuarded] = useState(rules.thresholdUsd !== null);
  const save = useAction(trpc.projects.setApprovalRules.mutationOptions(), {
    done: "Settings saved",
    onDone: (fresh) =>
      queryClient.setQueryData(trpc.projects.approvalRules.queryKey({ project_id: rules.projectId }), fresh),
    isInPlace: true,
  });
  return (
    <Form
      action={save}
      send={(sent) =>
        save.mutate({
          project_id: rules.projectId,
          thresholdUsd: isGuarded ? sent.requiredMicros("thresholdUsd") / 1_000_000 : null,
          requireDifferentApprover: sent.has("requireDifferentApprover"),
        })
      }
    >
      <CheckField
        name="guarded"
        label="Require approval for expensive jobs"
        checked={isGuarded}
        onChange={setGuarded}
      />
      {isGuarded && (
        <div className="max-w-56">
          <MoneyField
            name="thresholdUsd"
            label="Threshold in US dollars"
            bounds={THRESHOLD}
            required
            micros={Math.round((rules.thresholdUsd ?? 1) * 1_000_000)}
          />
        </div>
      )}
      <CheckField
        name="requireDifferentApprover"
        label="Require an approver other than the submitter"
        defaultChecked={rules.requireDifferentApprover}
      />
      <Button type="submit" variant="primary" pending={save.isPending}>
        Save
      </Button>
    </Form>
  );
}
