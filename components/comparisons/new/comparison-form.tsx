"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Columns2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { type ComponentProps, useMemo, useRef, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Form } from "@/components/blocks/form/form";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { BudgetWall } from "@/components/budgets/budget-wall";
import { comparisonHref } from "@/components/comparisons/list-state";
import { INTENT_WORDS } from "@/components/comparisons/words";
import { type Failure, toFailure, useTRPC } from "@/components/data/trpc";
import { carriedInput } from "@/components/playground/carried";
import { isExample } from "@/components/playground/example";
import { InputForm, initialInput } from "@/components/playground/input/input-form";
import { UnreadTexts, useUnreadTexts } from "@/components/playground/input/unread";
import { fieldIssues, standing } from "@/components/playground/issues";
import { Refused } from "@/components/playground/refused";
import type { Input } from "@/components/playground/schema";
import { useMissing } from "@/components/playground/use-missing";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import type { JsonObject } from "@/server/contract/common";
import type { Comparison } from "@/server/contract/comparisons";
import { COMPARISON_INTENTS } from "@/server/contract/enums";
import { CompetitorPicker } from "./competitor-picker";
import { type ComparisonDraft, comparisonDraft, competitorsOf, isEnough, variedByAll } from "./draft";
import { CostEstimate } from "./estimate";

type Sent = { input: Input; draft: ComparisonDraft };

type Props = { projectId: string; capabilityKey: string; isCarried: boolean };

/** The form of a new comparison: input, competitors, estimate and start. */
export function ComparisonForm({ projectId, capabilityKey, isCarried }: Props) {
  const trpc = useTRPC();
  const router = useRouter();
  const which = { project_id: projectId, capability_key: capabilityKey };
  const { data: capability } = useSuspenseQuery(trpc.catalog.describe.queryOptions(which));
  const { data: options } = useSuspenseQuery(trpc.comparisons.options.queryOptions(which));
  const [begun] = useState(() => ({
    input: (isCarried && carriedInput(capabilityKey)) || initialInput(capability),
    draft: comparisonDraft(options),
  }));
  const [input, setInput] = useState<Input>(begun.input);
  const [draft, setDraft] = useState<ComparisonDraft>(begun.draft);
  const [intent, setIntent] = useState<Comparison["intent"]>("exploratory");
  const [sent, setSent] = useState<Sent | null>(null);
  const keyOf = useIdempotencyKey();
  const { hasUnread, mark } = useUnreadTexts();
  const create = useAction(trpc.comparisons.create.mutationOptions(), {
    isInPlace: true,
    onDone: ({ comparisonId }) => router.push(comparisonHref(projectId, comparisonId)),
  });
  // Stays busy until the new page opens, so that a second click does nothing.
  const isBusy = create.isPending || create.isSuccess;
  // An input carried over from the playground counts as unsaved, too.
  const isTyped = draft !== begun.draft || (input !== begun.input && !isExample(capability, input));
  useUnsaved(!create.isSuccess && (isCarried || hasUnread || isTyped));
  const failure = create.error ? toFailure(create.error) : null;
  const body = useMemo(
    () => ({ input: input as JsonObject, competitors: competitorsOf(draft) }),
    [input, draft],
  );
  const issues = useIssues(failure, sent, { input, draft });
  const missing = useMissing(input, capability, variedByAll(draft));
  const canStart = !isBusy && isEnough(draft) && !hasUnread;

  const form = useRef<HTMLFormElement>(null);
  function start() {
    const whole = { context: { projectId }, ...body, intent };
    setSent({ input, draft });
    create.mutate({ ...which, body: { ...whole, idempotencyKey: keyOf(JSON.stringify(whole)) } });
  }

  return (
    <UnreadTexts value={mark}>
      <Form
        ref={form}
        noValidate
        className="grid items-start gap-4 lg:grid-cols-2"
        send={() => {
          if (canStart && form.current && missing.isWhole(form.current)) start();
        }}
      >
        <InputForm
          projectId={projectId}
          capability={capability}
          input={input}
          disabled={isBusy}
          hasUnread={hasUnread}
          issues={[...issues.input, ...missing.shown]}
          onChange={setInput}
        />
        <div className="min-w-0 space-y-4">
          <CompetitorPicker
            projectId={projectId}
            capability={capability}
            options={options}
            draft={draft}
            input={input}
            disabled={isBusy}
            issues={issues.competitors}
            onChange={setDraft}
          />
          <StartCard
            projectId={projectId}
            capabilityKey={capabilityKey}
            body={body}
            intent={intent}
            setIntent={setIntent}
            failure={failure}
            isBusy={isBusy}
            isReady={isEnough(draft)}
            hasUnread={hasUnread}
          />
        </div>
      </Form>
    </UnreadTexts>
  );
}

/** The estimate and the intent, an error if there is one, and the start button. */
function StartCard({
  projectId,
  capabilityKey,
  body,
  intent,
  setIntent,
  failure,
  isBusy,
  isReady,
  hasUnread,
}: {
  projectId: string;
  capabilityKey: string;
  body: ComponentProps<typeof CostEstimate>["body"];
  intent: Comparison["intent"];
  setIntent(intent: Comparison["intent"]): void;
  failure: Failure | null;
  isBusy: boolean;
  isReady: boolean;
  hasUnread: boolean;
}) {
  return (
    <Section title="Cost and intent" bodyClassName="space-y-4">
      <div className="max-w-72">
        <Choice
          label="Intent"
          value={intent}
          disabled={isBusy}
          options={COMPARISON_INTENTS.map((each) => [each, INTENT_WORDS[each].name])}
          onChange={(value) => setIntent(oneOfOr("exploratory", COMPARISON_INTENTS)(value))}
        />
        <p className="mt-1 text-xs text-muted">{INTENT_WORDS[intent].hint}</p>
      </div>
      <CostEstimate
        projectId={projectId}
        capabilityKey={capabilityKey}
        body={body}
        enabled={isReady}
        hasUnread={hasUnread}
      />
      {failure && (
        <Refused
          failure={failure}
          fieldsRefused="Some fields are invalid. Fix the marked fields and try again. Nothing was started."
        >
          <BudgetWall projectId={projectId} failure={failure} />
        </Refused>
      )}
      <Button type="submit" variant="primary" size="lg" pending={isBusy} disabled={!isReady || hasUnread}>
        {!isBusy && <Columns2 aria-hidden />}
        Start comparison
      </Button>
    </Section>
  );
}

/** The issues of a refusal that still apply, by their place in the form. */
function useIssues(failure: Failure | null, sent: Sent | null, { input, draft }: Sent) {
  return useMemo(() => {
    const all = fieldIssues(failure, sent?.input ?? null);
    const isOfCompetitor = ({ loc }: { loc: (string | number)[] }) => loc[0] === "competitors";
    return {
      input: standing(
        all.filter((issue) => !isOfCompetitor(issue)),
        input,
        sent?.input ?? null,
      ),
      competitors: sent?.draft === draft ? all.filter(isOfCompetitor) : [],
    };
  }, [failure, sent, input, draft]);
}

/** One idempotency key per content: sending the same request twice starts one comparison. */
function useIdempotencyKey(): (content: string) => string {
  const last = useRef<{ content: string; key: string } | null>(null);
  return (content) => {
    if (last.current?.content !== content) last.current = { content, key: crypto.randomUUID() };
    return last.current.key;
  };
}
