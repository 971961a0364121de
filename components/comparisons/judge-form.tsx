"use client";
import { Gavel } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { sentencesOf, useTRPC } from "@/components/data/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Choice as Select } from "@/components/ui/choice";
import { Notice } from "@/components/ui/notice";
import type { Comparison } from "@/server/contract/comparisons";
import {
  couldWin,
  entryName,
  type JudgementChoice,
  judgementText,
  mayBeJudged,
  NOTHING_CHOSEN,
  toJudgement,
} from "./judgement";

const SAME = "same";

/** The form to judge the entries before the models are revealed. */
export function JudgeForm({ comparison }: { comparison: Comparison }) {
  const { comparisonId, entries, projectId } = comparison;
  const trpc = useTRPC();
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
  const [choice, choose] = useState<JudgementChoice>(NOTHING_CHOSEN);
  const judge = useAction(trpc.comparisons.judge.mutationOptions(), {
    isInPlace: true,
    done: "Judgement saved. Models revealed.", // The jobs of the entries now show their models.
    refresh: [trpc.comparisons.pathKey(), trpc.jobs.pathKey(), trpc.usage.pathKey()],
  });
  const isOpen = mayBeJudged(entries);
  const judgement = toJudgement(choice, entries);
  const disabled = !mayWrite || !isOpen;
  const winners = entries.filter(couldWin);
  const overall = typeof choice.overall === "object" ? choice.overall?.winner : choice.overall;

  return (
    <Section title="Your judgement" hint="Blind, and final once submitted" bodyClassName="space-y-4">
      {!isOpen && (
        <p role="status" className="text-sm text-muted">
          You can judge once every entry has finished.
        </p>
      )}
      <fieldset disabled={disabled} className="min-w-0">
        <legend className="mb-2 text-sm font-medium">Which is best?</legend>
        <div className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
          {entries.map((entry, at) => (
            <Option
              key={entry.entryId}
              checked={overall === entry.entryId}
              disabled={!couldWin(entry)}
              onPick={() => choose({ ...choice, overall: { winner: entry.entryId } })}
              hint={isOpen && !couldWin(entry) ? "No output to judge" : null}
            >
              {entryName(at)}
            </Option>
          ))}
          <Option
            checked={overall === "tie"}
            disabled={winners.length < 2}
            onPick={() => choose({ overall: "tie", value: null })}
            hint="No entry is better than the others"
          >
            Tie
          </Option>
          <Option
            checked={overall === "none"}
            onPick={() => choose({ overall: "none", value: null })}
            hint="No entry is good enough"
          >
            None
          </Option>
        </div>
      </fieldset>
      {judgement?.decision === "winner" && winners.length > 1 && (
        <div className="max-w-72">
          <Select
            label="Best value (optional)"
            value={choice.value ?? SAME}
            disabled={disabled}
            options={[
              [SAME, "Same as the winner"],
              ...entries.flatMap((entry, at): [string, string][] =>
                couldWin(entry) ? [[entry.entryId, entryName(at)]] : [],
              ),
            ]}
            onChange={(value) => choose({ ...choice, value: value === SAME ? null : value })}
          />
        </div>
      )}
      {judge.error && (
        <Notice tone="bad" role="alert" title="Judgement not saved">
          {sentencesOf(judge.error)}
        </Notice>
      )}
      <div className={ACTS}>
        <Confirm
          title="Submit your judgement?"
          description={
            <>
              {judgement && judgementText(judgement, entries)} You can't change this later. Models, costs and
              durations will be revealed.
            </>
          }
          action="Submit judgement"
          actionVariant="primary"
          onConfirm={() => judgement && judge.mutate({ comparison_id: comparisonId, ...judgement })}
        >
          <Button variant="primary" size="lg" pending={judge.isPending} disabled={disabled || !judgement}>
            {!judge.isPending && <Gavel aria-hidden />}
            Judge
          </Button>
        </Confirm>
        <p aria-live="polite" className="text-sm text-muted">
          {mayWrite ? judgement && judgementText(judgement, entries) : whyNot("member", "judge")}
        </p>
      </div>
    </Section>
  );
}

/** On a phone the actions stay at the bottom, in reach while the reader looks at the entries. */
const ACTS =
  "flex flex-wrap items-center gap-3 max-sm:fixed max-sm:inset-x-0 max-sm:bottom-0 max-sm:z-20 max-sm:border-t max-sm:border-line max-sm:bg-surface max-sm:px-4 max-sm:py-2.5";

type Props = { checked: boolean; disabled?: boolean; hint?: ReactNode; onPick(): void; children: ReactNode };

function Option({ checked, disabled, hint, onPick, children }: Props) {
  return (
    <label className="flex min-w-0 items-start gap-2.5 rounded-md border border-line px-3 py-2.5 shadow-card has-checked:border-primary has-checked:bg-hover has-disabled:opacity-55 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-focus">
      <input
        type="radio"
        name="overall-winner"
        checked={checked}
        disabled={disabled}
        onChange={onPick}
        className="mt-0.5 size-4 shrink-0 accent-primary outline-none"
      />
      <span className="min-w-0">
        <span className="block text-sm font-medium">{children}</span>
        {hint && <span className="block text-xs text-muted">{hint}</span>}
      </span>
    </label>
  );
}
