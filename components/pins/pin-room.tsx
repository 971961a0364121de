"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ArrowUpRight, Play } from "lucide-react";
import { useMemo, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { Form } from "@/components/blocks/form/form";
import { BudgetWall } from "@/components/budgets/budget-wall";
import { type Failure, toFailure, useTRPC } from "@/components/data/trpc";
import { Refused } from "@/components/playground/refused";
import { Snippets } from "@/components/playground/snippets";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { Card, Section } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { Words } from "@/components/ui/words";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import type { PinnedAnswer } from "@/server/contract/pinned-records";
import { pinnedHref, recordHref } from "./list-state";
import { blankPin, type PinDraft, PinFields, toBody } from "./pin-fields";
import { PinStatusBadge } from "./pin-status";
import { costWords } from "./words";

/** A page to run one pinned request: the form, the response, and the same request as code. */
export function PinRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.pinned.choices.queryOptions({ project_id: projectId }));
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const [blank] = useState(() => blankPin(choices));
  const [draft, setDraft] = useState<PinDraft>(blank);
  const [sent, setSent] = useState<PinDraft | null>(null);
  const body = useMemo(() => toBody(draft, choices, projectId), [draft, choices, projectId]);
  const run = useAction(trpc.pinned.run.mutationOptions(), {
    isInPlace: true,
    refresh: [trpc.pinned.list.pathKey()],
  });
  // A run that happened is stored in its record.
  useUnsaved(draft !== blank && !(run.isSuccess && draft === sent));
  const failure = run.error ? toFailure(run.error) : null;
  return (
    <>
      <PageHeader back={{ href: pinnedHref(projectId), label: "Pinned records" }} title="Run pinned request">
        Sends one request to one model, exactly as written and only once.
      </PageHeader>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
        <Form
          noValidate
          className="min-w-0"
          // Any other failure is shown where the response appears.
          action={{ isPending: run.isPending, error: failure?.issues.length ? run.error : null }}
          send={() => {
            if (!mayWrite) return;
            setSent(draft);
            run.mutate({
              project_id: projectId,
              // A click that the network repeats must not run twice.
              body: { ...body, idempotencyKey: crypto.randomUUID() },
            });
          }}
        >
          <Section title="Request" bodyClassName="space-y-4">
            <PinFields
              projectId={projectId}
              choices={choices}
              draft={draft}
              disabled={!mayWrite}
              onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
            />
            <Button type="submit" variant="primary" size="lg" pending={run.isPending} disabled={!mayWrite}>
              {!run.isPending && <Play aria-hidden />}
              Run
            </Button>
            {!mayWrite && <p className="text-sm text-muted">{whyNot("member", "run this")}</p>}
          </Section>
        </Form>
        <div className="min-w-0 lg:row-span-2" role="status" aria-busy={run.isPending}>
          <Outcome
            projectId={projectId}
            answer={run.data}
            failure={failure}
            state={run.isPending ? "running" : run.isIdle ? "idle" : "ended"}
          />
        </div>
        <div className="min-w-0">
          <Snippets path="/v1/inference/pinned" body={body} />
        </div>
      </div>
    </>
  );
}

type Props = {
  projectId: string;
  answer: PinnedAnswer | undefined;
  failure: Failure | null;
  state: "idle" | "running" | "ended";
};

function Outcome({ projectId, answer, failure, state }: Props) {
  if (state === "idle")
    return (
      <Card>
        <EmptyState icon={Play} title="No response yet">
          The response appears here, with its signed record.
        </EmptyState>
      </Card>
    );
  const receiptId = answer?.receiptId ?? failure?.details.receiptId;
  return (
    <Section
      title="Response"
      hint={answer && <PinStatusBadge status={answer.status} />}
      bodyClassName="space-y-4"
    >
      {state === "running" && (
        <div className="space-y-2.5">
          <Skeleton className="h-4 w-4/5" />
          <Skeleton className="h-4 w-3/5" />
          <p className="text-xs text-muted">Running. This can take as long as its limits allow.</p>
        </div>
      )}
      {failure && <Failed projectId={projectId} failure={failure} />}
      {answer?.output && answer.output.text !== "" && <Words text={answer.output.text} what="response" />}
      {answer?.output?.toolCalls.map(({ id, name, arguments: given }) => (
        <p key={id} className="text-sm [overflow-wrap:anywhere]">
          Calls <code className="font-medium">{name}</code> with <code>{given}</code>
        </p>
      ))}
      {typeof receiptId === "string" && (
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <Link
            href={recordHref(projectId, receiptId)}
            className="inline-flex items-center gap-1 text-link hover:underline"
          >
            Record
            <ArrowUpRight aria-hidden className="size-3.5" />
          </Link>
          <code className="text-xs text-muted">{receiptId}</code>
          {answer && <span className="text-muted">Cost: {costWords(answer.receipt)}</span>}
        </p>
      )}
    </Section>
  );
}

function Failed({ projectId, failure }: { projectId: string; failure: Failure }) {
  const { safelyRetryable } = failure.details;
  return (
    <Refused
      failure={failure}
      fieldsRefused="Some fields are invalid. Fix the marked fields and try again. Nothing was sent."
    >
      <BudgetWall projectId={projectId} failure={failure} />
      {typeof safelyRetryable === "boolean" && (
        <p className="mt-1.5 text-xs text-muted">
          {safelyRetryable
            ? "Nothing ran. You can send it again."
            : "The provider may have run and charged this. Do not send it again."}
        </p>
      )}
    </Refused>
  );
}
