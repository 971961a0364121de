"use client";
import { ArrowLeft, CircleCheck } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { formatMoney, wholeDollars } from "@/components/blocks/money/money";
import { WorkPreview, workTitle } from "@/components/blocks/work/work";
import { callerName } from "@/components/callers/caller-name";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { Approvals, Asker, WaitingJob } from "@/server/contract/approvals";
import { CommissionDetail } from "./commission-detail";
import { TimeLeft } from "./due";
import { JobDetail } from "./job-detail";
import { type Decision, useDecisions } from "./use-decisions";

const LOOK_AGAIN_MS = 10_000;

type Item = Approvals["items"][number];
const idOf = (item: Item) => (item.kind === "job" ? item.jobId : item.quote.quoteId);

/** The jobs to approve and the commission quotes to pay in a project: a list by deadline, with the chosen item beside it. */
export function ApprovalsRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data } = useLive(trpc.approvals.list.queryOptions({ project_id: projectId }), LOOK_AGAIN_MS);
  const { decided, decide } = useDecisions();
  const items = data.items.filter((item) => !decided.has(idOf(item)));
  const [chosenId, setChosenId] = useState<string | null>(null);
  // A narrow screen shows either the list or the chosen item.
  const [isOpen, setOpen] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const at = Math.max(
    0,
    items.findIndex((item) => idOf(item) === chosenId),
  );
  const chosen = items[at];
  const hidden = data.count - data.items.length;

  function choose(item: Item | undefined) {
    if (!item) return;
    setChosenId(idOf(item));
    list.current?.querySelector<HTMLElement>(`[data-item="${idOf(item)}"]`)?.focus();
  }
  function settle(item: WaitingJob, decision: Decision) {
    choose(items[at + 1] ?? items[at - 1]);
    setOpen(false);
    decide(item.jobId, decision);
  }
  function press(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const key = event.key.toLowerCase();
    if (key === "j" || key === "k") choose(items[at + (key === "j" ? 1 : -1)]);
    if (chosen?.kind !== "job") return;
    if (key === "a" && chosen.rights.approve) settle(chosen, "approve");
    if (key === "r" && chosen.rights.reject) settle(chosen, "reject");
  }
  // The keyboard shortcuts work while focus is in the inbox, so it starts there.
  useEffect(() => {
    if (document.activeElement === document.body)
      list.current?.querySelector<HTMLElement>("[aria-current=true]")?.focus({ preventScroll: true });
  }, []);

  return (
    <>
      <PageHeader title="Approvals">Jobs and quotes waiting for your decision.</PageHeader>
      {chosen ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: its buttons have the keys; letters only repeat them
        <div
          className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[22.5rem_minmax(0,1fr)]"
          onKeyDown={press}
        >
          <Card className={cn("overflow-hidden", isOpen && "max-lg:hidden")}>
            <ul
              ref={list}
              aria-label="Approvals, soonest deadline first"
              className="divide-y divide-line-soft"
            >
              {items.map((item) => (
                <li key={idOf(item)}>
                  <Row
                    item={item}
                    now={data.now}
                    isChosen={item === chosen}
                    onChoose={() => {
                      choose(item);
                      setOpen(true);
                    }}
                  />
                </li>
              ))}
            </ul>
            {hidden > 0 && (
              <p className="border-t border-line-soft px-4 py-3 text-xs text-muted">
                {hidden === 1 ? "1 more is" : `${hidden.toLocaleString("en-US")} more are`} waiting. Decide on
                these first to see {hidden === 1 ? "it" : "them"}.
              </p>
            )}
          </Card>
          <section
            aria-label="Chosen approval"
            className={cn("grid min-w-0 grid-cols-1 gap-4", !isOpen && "max-lg:hidden")}
          >
            <div className="lg:hidden">
              <Button size="sm" onClick={() => setOpen(false)}>
                <ArrowLeft aria-hidden />
                All approvals
              </Button>
            </div>
            {chosen.kind === "job" ? (
              <JobDetail
                key={chosen.jobId}
                projectId={projectId}
                item={chosen}
                now={data.now}
                onDecide={(decision) => settle(chosen, decision)}
              />
            ) : (
              <CommissionDetail projectId={projectId} item={chosen} now={data.now} />
            )}
          </section>
        </div>
      ) : (
        <Card>
          <EmptyState icon={CircleCheck} title="You're all caught up">
            Jobs that need approval and quotes to pay appear here. Choose which jobs need approval in{" "}
            <Link href={`/projects/${projectId}/settings`} className="text-link underline">
              Settings
            </Link>
            .
          </EmptyState>
        </Card>
      )}
    </>
  );
}

const isTyping = (target: EventTarget) =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

function Row({
  item,
  now,
  isChosen,
  onChoose,
}: {
  item: Item;
  now: string;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const [title, price, askedBy, due]: [string, string, Asker, string | null] =
    item.kind === "job"
      ? [
          workTitle(item.work) ?? item.capabilityKey,
          wholeDollars(item.approval.maximumCost),
          item.askedBy,
          item.approval.deadlineAt,
        ]
      : [item.summary, formatMoney(item.quote.commissionPrice), item.askedBy, item.quote.expiresAt];
  return (
    <button
      type="button"
      data-item={idOf(item)}
      aria-current={isChosen}
      onClick={onChoose}
      className="flex w-full items-center gap-3 px-4 py-2.5 text-left text-sm -outline-offset-2 hover:bg-hover aria-[current=true]:bg-selected"
    >
      {item.kind === "job" && item.work && <WorkPreview work={item.work} />}
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-3">
          <span dir="auto" className="min-w-0 flex-1 truncate font-medium">
            {title}
          </span>
          <span className="tabular-nums">{price}</span>
        </span>
        <span className="mt-0.5 flex items-baseline gap-3 text-xs text-muted">
          <span className="min-w-0 flex-1 truncate">
            {item.kind === "job" ? item.capabilityKey : "Commission"}, {callerName(askedBy)}
          </span>
          {due && <TimeLeft until={due} now={now} />}
        </span>
      </span>
    </button>
  );
}
