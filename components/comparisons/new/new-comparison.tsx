"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Columns2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useTransition } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { comparisonsHref, newComparisonHref } from "@/components/comparisons/list-state";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Card, CardBody } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { EmptyState } from "@/components/ui/empty-state";
import { Notice } from "@/components/ui/notice";
import { leaveUnsaved } from "@/components/unsaved/unsaved-work";
import { ComparisonForm } from "./comparison-form";

/** The page of a new comparison: choose a capability, then the input and the competitors. */
export function NewComparison({
  projectId,
  capabilityKey,
  isCarried,
}: {
  projectId: string;
  capabilityKey: string | null;
  /** True if the input is carried over from the playground. */
  isCarried: boolean;
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const { data: entries } = useSuspenseQuery(trpc.catalog.list.queryOptions({ project_id: projectId }));
  const durable = entries.filter(({ executionModes }) => executionModes.includes("job_async"));
  return (
    <>
      <PageHeader back={{ href: comparisonsHref(projectId), label: "Comparisons" }} title="New comparison">
        Send one request to two to four competitors. Each runs as its own job, and the models stay hidden
        until you judge.
      </PageHeader>
      {!mayWrite ? (
        <Notice tone="busy">{whyNot("member", "compare")}</Notice>
      ) : (
        <>
          <Card className="mb-4" aria-busy={isPending}>
            <CardBody>
              <div className="max-w-md">
                <Choice
                  label="Capability"
                  value={capabilityKey ?? ""}
                  placeholder="Choose a capability"
                  options={durable.map(({ key, title }) => [key, `${title} (${key})`])}
                  onChange={(key) =>
                    leaveUnsaved(() =>
                      startTransition(() => router.replace(newComparisonHref(projectId, key))),
                    )
                  }
                />
              </div>
            </CardBody>
          </Card>
          {capabilityKey ? (
            <ComparisonForm
              key={capabilityKey}
              projectId={projectId}
              capabilityKey={capabilityKey}
              isCarried={isCarried}
            />
          ) : (
            <Card>
              <EmptyState icon={Columns2} title="Choose a capability">
                Its input and available competitors appear here.
              </EmptyState>
            </Card>
          )}
        </>
      )}
    </>
  );
}
