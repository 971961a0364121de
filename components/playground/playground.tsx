"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Columns2, Play } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useMemo, useRef, useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { dollars } from "@/components/blocks/money/money";
import { RunBudget } from "@/components/budgets/run-budget";
import { newComparisonHref } from "@/components/comparisons/list-state";
import { useTRPC, useTRPCClient } from "@/components/data/trpc";
import { InputForm, initialInput } from "@/components/playground/input/input-form";
import { UnreadTexts, useUnreadTexts } from "@/components/playground/input/unread";
import { Button } from "@/components/ui/button";
import { Card, Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import type { JsonObject } from "@/server/contract/common";
import type { RetailQuote } from "@/server/contract/pricing";
import { carry } from "./carried";
import { isExample } from "./example";
import { fieldIssues, standing } from "./issues";
import { LivePrice } from "./live-price";
import { fieldLabel, type Input } from "./schema";
import { Snippets } from "./snippets";
import { useMissing } from "./use-missing";
import { type RunMode, type RunRequest, useRun } from "./use-run";

const loadResult = () => import("./result");
const Result = dynamic(loadResult);

const MODES: Record<RunMode, { label: string; run: string }> = {
  invoke_sync: { label: "Wait for result", run: "Run" },
  invoke_stream: { label: "Stream", run: "Stream" },
  job_async: { label: "Durable job", run: "Submit job" },
};

/** A capability's playground: its input as a form or as JSON, its price, its run, and the request as code. */
export function Playground({
  projectId,
  capability,
}: {
  projectId: string;
  capability: CapabilityDescriptor;
}) {
  const mayRun = useProject(projectId).may("member");
  const [begun] = useState(() => initialInput(capability));
  const [input, setInput] = useState<Input>(begun);
  const settings = useSettings(projectId, capability, input);
  const { mode, request } = settings;
  /** The input of the refused request. A field that changed since is no longer invalid. */
  const [sent, setSent] = useState<Input | null>(null);
  const run = useRun(projectId, capability.key);
  const { hasUnread, mark } = useUnreadTexts();
  // A finished run is in its job's record.
  const isKept = input === begun || isExample(capability, input) || (run.jobId !== null && input === sent);
  useUnsaved(hasUnread || !isKept);
  const resultRef = useRef<HTMLDivElement>(null);
  // Preloaded before a run starts, because the run's connection may break.
  useEffect(() => void loadResult(), []);

  const isBusy = run.state === "sending" || run.state === "running";
  const issues = useMemo(
    () => standing(fieldIssues(run.failure, sent), input, sent),
    [run.failure, sent, input],
  );

  const missing = useMissing(input, capability);

  function start() {
    setSent(input);
    run.start(request);
    resultRef.current?.scrollIntoView?.({ block: "nearest" });
  }

  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
      <form
        className="min-w-0 space-y-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && mayRun && !hasUnread && missing.isWhole(event.currentTarget)) start();
        }}
      >
        <UnreadTexts value={mark}>
          <InputForm
            projectId={projectId}
            capability={capability}
            input={input}
            disabled={!mayRun}
            hasUnread={hasUnread}
            issues={[...issues, ...missing.shown]}
            onChange={setInput}
          />
        </UnreadTexts>
        <RunSettings
          projectId={projectId}
          capability={capability}
          input={input}
          settings={settings}
          isBusy={isBusy}
          hasUnread={hasUnread}
          needsFile={missing.isFile}
        />
      </form>
      <div ref={resultRef} className="min-w-0 scroll-mt-4 lg:row-span-2">
        {run.state === "idle" ? (
          <Card>
            <EmptyState icon={Play} title="No results yet">
              Results appear here: text, data, images, audio, video or meshes.
            </EmptyState>
          </Card>
        ) : (
          <Result run={run} projectId={projectId} />
        )}
      </div>
      <div className="min-w-0">
        <Snippets
          path={`/v1/capabilities/${capability.key}/${mode === "job_async" ? "jobs" : "invoke"}`}
          body={request.body}
          stream={mode === "invoke_stream"}
        />
      </div>
    </div>
  );
}

/** The settings of a run: the mode, the model, and the request that follows from them and the input. */
function useSettings(projectId: string, capability: CapabilityDescriptor, input: Input) {
  const trpc = useTRPC();
  const { data: targets } = useSuspenseQuery(
    trpc.catalog.targets.queryOptions({ project_id: projectId, capability_key: capability.key }),
  );
  const [mode, setMode] = useState<RunMode>(capability.executionModes[0] ?? "job_async");
  const [model, setModel] = useState("");
  const choices = targets.targets.filter(({ availability }) => availability.available);
  const chosen = choices.find(({ target }) => target === model);
  const [providerPin, preferredModel] = [chosen?.provider, chosen?.model];
  const request = useMemo(
    () => ({
      mode,
      body: {
        context: { projectId },
        input,
        ...(mode === "invoke_stream" ? { executionMode: "Stream" } : {}),
        ...(preferredModel ? { execution: { executionConstraints: { providerPin, preferredModel } } } : {}),
      },
    }),
    [mode, input, providerPin, preferredModel, projectId],
  );
  return { choices, mode, setMode, model, setModel, request };
}

const AUTOMATIC = "automatic";

/** The request's price before it is sent. */
function Cost({
  projectId,
  capabilityKey,
  request,
  enabled,
  hasUnread,
}: {
  projectId: string;
  capabilityKey: string;
  request: RunRequest;
  enabled: boolean;
  hasUnread: boolean;
}) {
  const client = useTRPCClient();
  const { input, execution } = request.body;
  const body = useMemo(() => ({ input, execution }), [input, execution]);
  return (
    <LivePrice
      name={["playground-quote", projectId, capabilityKey]}
      body={body}
      ask={(body) =>
        client.catalog.quote.mutate({
          project_id: projectId,
          capability_key: capabilityKey,
          body: body as JsonObject, // it was parsed as JSON before
        })
      }
      hasUnread={hasUnread}
      instead={enabled ? null : "Prices are shown to members who can run this."}
      noun="price"
      waiting="h-9 w-44"
    >
      {(quote) => (
        <>
          <Figures quote={quote} />
          <RunBudget projectId={projectId} quote={quote} />
        </>
      )}
    </LivePrice>
  );
}

const labelOfPointer = (pointer: string) =>
  fieldLabel(pointer.split("/").findLast((step) => !/^\d*$/.test(step)) ?? "input");

function Figures({ quote }: { quote: RetailQuote }) {
  if (quote.status !== "ok")
    return (
      <span className="text-muted">No price yet: check {quote.missing.map(labelOfPointer).join(", ")}.</span>
    );
  const expected = quote.expectedCharge?.amountMicros ?? 0;
  const most = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
  const route = quote.resolved;
  if (!route || (expected === 0 && most === 0))
    return (
      <>
        <span className="block font-semibold">Free</span>
        <span className="block text-xs text-muted">
          {route?.model ? `on ${route.provider}/${route.model}` : "runs locally, without a provider"}
        </span>
      </>
    );
  const isExact = quote.pricing?.quote?.qualifier === "exact";
  return (
    <>
      <span className="block font-semibold tabular-nums">
        {expected === most ? dollars(most) : `about ${dollars(expected)}`}
        {expected !== most && <span className="font-normal text-muted">, at most {dollars(most)}</span>}
      </span>
      <span className="block text-xs text-muted">
        {isExact ? "exact count" : "upper bound"} · {route.provider}/{route.model} ·{" "}
        {route.billingMode === "byok" ? "you pay $0.00, the provider bills you" : route.billingMode}
      </span>
    </>
  );
}

/** Mode, model and price, and the buttons that start the run. */
function RunSettings({
  projectId,
  capability,
  input,
  settings: { choices, mode, setMode, model, setModel, request },
  isBusy,
  hasUnread,
  needsFile,
}: {
  projectId: string;
  capability: CapabilityDescriptor;
  input: Input;
  settings: ReturnType<typeof useSettings>;
  isBusy: boolean;
  hasUnread: boolean;
  needsFile: boolean;
}) {
  const { may, whyNot } = useProject(projectId);
  const mayRun = may("member");
  return (
    <Section title="Run settings" bodyClassName="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice
          label="Run mode"
          value={mode}
          onChange={(value) => setMode(value as RunMode)}
          options={capability.executionModes.map((each) => [each, MODES[each].label])}
        />
        {choices.length > 0 && (
          <Choice
            label="Model"
            value={model || AUTOMATIC}
            onChange={(value) => setModel(value === AUTOMATIC ? "" : value)}
            options={[
              [AUTOMATIC, "Automatic"],
              ...choices.map(({ target, title }): [string, string] => [target, title]),
            ]}
          />
        )}
      </div>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <Button
          type="submit"
          variant="primary"
          size="lg"
          pending={isBusy}
          disabled={!mayRun || hasUnread || needsFile}
          aria-describedby={needsFile ? "run-waits" : undefined}
        >
          {!isBusy && <Play aria-hidden />}
          {MODES[mode].run}
        </Button>
        {capability.executionModes.includes("job_async") && mayRun && (
          <CompareButton
            projectId={projectId}
            capabilityKey={capability.key}
            input={input}
            disabled={hasUnread}
          />
        )}
        <Cost
          projectId={projectId}
          capabilityKey={capability.key}
          request={request}
          enabled={mayRun}
          hasUnread={hasUnread}
        />
      </div>
      {mayRun && needsFile && (
        <p id="run-waits" className="text-sm text-muted">
          This capability needs a file. Choose an artifact of this project or upload one in the form.
        </p>
      )}
      {!mayRun && <p className="text-sm text-muted">{whyNot("member", "run this")}</p>}
    </Section>
  );
}

function CompareButton({
  projectId,
  capabilityKey,
  input,
  disabled,
}: {
  projectId: string;
  capabilityKey: string;
  input: Input;
  disabled: boolean;
}) {
  const words = (
    <>
      <Columns2 aria-hidden />
      Compare
    </>
  );
  if (disabled)
    return (
      <Button size="lg" disabled>
        {words}
      </Button>
    );
  return (
    <Button asChild size="lg">
      <Link
        href={newComparisonHref(projectId, capabilityKey, true)}
        data-takes-along=""
        onClick={() => carry(capabilityKey, input)}
      >
        {words}
      </Link>
    </Button>
  );
}
