"use client";
import { CircleCheck } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { wholeDollars } from "@/components/blocks/money/money";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Card, Section } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Fact, Facts } from "@/components/ui/facts";
import { OperatorActions } from "./job-actions";

/** For operators: jobs of all projects that need one. No content is shown. */
export function AttentionRoom() {
  const trpc = useTRPC();
  const { data: items } = useLive(trpc.attention.list.queryOptions(), 10_000);
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-3xl px-4 py-8 outline-none">
      <h1 className="mb-1 text-2xl font-semibold">Needs attention</h1>
      <p className="mb-6 text-base text-muted">
        Jobs whose provider result was paid for, but could not be processed or stored. Retry the step, accept
        the stored part, or fail the job.
      </p>
      {items.length === 0 ? (
        <Card>
          <EmptyState icon={CircleCheck} title="You're all caught up">
            Jobs whose paid result could not be processed or stored appear here.
          </EmptyState>
        </Card>
      ) : (
        <ul className="space-y-4">
          {items.map((item) => (
            <li key={item.jobId}>
              <Section id={item.jobId} title={item.jobId} hint={item.capabilityKey} bodyClassName="space-y-3">
                <Facts>
                  <Fact name="Project">{item.projectId}</Fact>
                  <Fact name="Reason">{item.reason}</Fact>
                  <Fact name="Step">{item.step}</Fact>
                  <Fact name="Since">
                    <Moment at={item.since} />
                  </Fact>
                  <Fact name="Provider cost">
                    {item.providerCost === null ? "Unknown" : wholeDollars(item.providerCost)}
                  </Fact>
                  <Fact name="Provider response">{item.isAnswerKept ? "Stored" : "Lost"}</Fact>
                </Facts>
                <OperatorActions jobId={item.jobId} refresh={[trpc.attention.pathKey()]} />
              </Section>
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
