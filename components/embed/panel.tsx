"use client";
import { Play } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Form } from "@/components/blocks/form/form";
import { dollars } from "@/components/blocks/money/money";
import { UNREACHABLE } from "@/components/data/unreachable";
import { ObjectFields } from "@/components/playground/input/fields";
import { fieldIssues, standing } from "@/components/playground/issues";
import { Refused } from "@/components/playground/refused";
import { type Path, withValue } from "@/components/playground/schema";
import { useSettled } from "@/components/playground/use-settled";
import { useForceTheme } from "@/components/shell/theme-provider";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import type { EmbedBootstrap } from "@/server/contract/embeds";
import type { RetailQuote } from "@/server/contract/pricing";
import { type PanelApi, Refusal } from "./api";
import { initialEmbedInput, prefilled, shownSchema } from "./fields";
import { Outcome } from "./outcome";
import type { FromHost, ToHost } from "./protocol";
import { useJob } from "./use-job";
import { useSession } from "./use-session";

type Input = Record<string, unknown>;

/** An embed in a host page's frame: waits for its session, then shows one capability's form, price, run and files. */
export function EmbeddedPanel() {
  const [given, setGiven] = useState<Input | null>(null);
  const forceTheme = useForceTheme();
  const { session, tell, end } = useSession((message: FromHost) => {
    if (message.type === "prefill") setGiven(message.inputs);
    // Not stored: the host sends it each time.
    if (message.type === "theme") forceTheme(message.theme);
  });
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!root.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) tell({ type: "resize", height: Math.ceil(entry.target.getBoundingClientRect().height) });
    });
    observer.observe(root.current);
    return () => observer.disconnect();
  }, [tell]);

  return (
    <main ref={root} aria-label="Embed" className="mx-auto max-w-3xl p-4" data-session={session.state}>
      {!(session.state === "open" && session.bootstrap.capability) && <h1 className="sr-only">Embed</h1>}
      {session.state === "waiting" && (
        <div role="status" className="space-y-3">
          <p className="text-sm text-muted">Waiting for the host page.</p>
          <Skeleton className="h-24 w-full" />
        </div>
      )}
      {session.state === "ended" && (
        <Notice tone="busy" role="alert" title="This embed is closed">
          {session.message}
        </Notice>
      )}
      {session.state === "open" &&
        (session.bootstrap.capability ? (
          <Work
            key={session.bootstrap.session.sessionId}
            api={session.api}
            bootstrap={session.bootstrap}
            capabilityKey={session.bootstrap.capability.key}
            given={given}
            tell={tell}
            onEnded={end}
          />
        ) : (
          <Notice tone="busy" title="Nothing to show">
            This session isn't limited to one capability. The host page runs what it needs.
          </Notice>
        ))}
    </main>
  );
}

function Work({
  api,
  bootstrap,
  capabilityKey,
  given,
  tell,
  onEnded,
}: {
  api: PanelApi;
  bootstrap: EmbedBootstrap;
  capabilityKey: string;
  /** Values from the host. */
  given: Input | null;
  tell(message: ToHost): void;
  onEnded(): void;
}) {
  const [input, setInput] = useState<Input>(() => initialEmbedInput(bootstrap));
  const [sent, setSent] = useState<Input | null>(null);
  const run = useJob(api, capabilityKey, tell, onEnded);
  useEffect(() => {
    if (given) setInput((before) => prefilled(bootstrap, before, given));
  }, [given, bootstrap]);
  const schema = useMemo(() => shownSchema(bootstrap), [bootstrap]);
  const issues = standing(fieldIssues(run.failure, sent), input, sent);
  const { definition, capability, presentation } = bootstrap;

  return (
    <>
      <Form
        noValidate
        send={() => {
          if (run.isBusy) return;
          setSent(input);
          void run.start(input);
        }}
      >
        <header>
          <h1 dir="auto" className="text-lg font-semibold">
            {definition?.displayName || capability?.title}
          </h1>
          <p className="text-sm text-muted">{capability?.description}</p>
        </header>
        <ObjectFields
          form={{
            root: schema,
            projectId: null,
            disabled: false,
            issues,
            set: (path: Path, value: unknown) =>
              setInput((before) => withValue(before, path, value) as Input), // changing a field of an object returns an object
          }}
          path={[]}
          schema={schema}
          value={input}
        />
        <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
          <Button type="submit" variant="primary" size="lg" pending={run.isBusy}>
            {!run.isBusy && <Play aria-hidden />}
            Run
          </Button>
          {presentation.pricingDisplay !== "hidden" && (
            <Price
              api={api}
              capabilityKey={capabilityKey}
              input={input}
              isBrokenDown={presentation.pricingDisplay === "breakdown"}
            />
          )}
        </div>
      </Form>
      <div className="mt-4 space-y-4" aria-live="polite">
        {run.failure && (
          <Refused
            failure={run.failure}
            fieldsRefused="Some fields are invalid. Fix the marked fields and try again."
          />
        )}
        {run.job && (
          <Outcome api={api} job={run.job} hasEnded={run.hasEnded} showRouting={presentation.showRouting} />
        )}
      </div>
    </>
  );
}

/** The input's price, broken down if the embed's settings ask for it. */
function Price({
  api,
  capabilityKey,
  input,
  isBrokenDown,
}: {
  api: PanelApi;
  capabilityKey: string;
  input: Record<string, unknown>;
  isBrokenDown: boolean;
}) {
  const text = useSettled(JSON.stringify(input));
  const [quote, setQuote] = useState<RetailQuote | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isGone = false;
    api
      .json<RetailQuote>(`/v1/capabilities/${capabilityKey}/quote`, { input: JSON.parse(text) })
      .then((fresh) => {
        if (!isGone) [setQuote(fresh), setProblem(null)];
      })
      .catch((cause) => {
        if (isGone) return;
        setQuote(null);
        const first = cause instanceof Refusal ? cause.failure.issues[0]?.msg : undefined;
        setProblem(first ?? (cause instanceof Refusal ? cause.message : UNREACHABLE));
      });
    return () => {
      isGone = true;
    };
  }, [api, capabilityKey, text]);
  return (
    <p className="flex min-h-10 flex-col justify-center text-sm" aria-live="polite" data-price>
      {problem && <span className="text-muted">No price yet: {problem}</span>}
      {quote && <Figures quote={quote} isBrokenDown={isBrokenDown} />}
    </p>
  );
}

function Figures({ quote, isBrokenDown }: { quote: RetailQuote; isBrokenDown: boolean }) {
  if (quote.status !== "ok")
    return (
      <span className="text-muted">
        No price yet: enter {quote.missing.map((field) => field.replace("/input/", "")).join(", ")}.
      </span>
    );
  const usd = (micros: number | undefined) => dollars(micros ?? 0);
  const expected = quote.expectedCharge?.amountMicros ?? 0;
  const most = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
  if (most === 0) return <span className="font-semibold">Free</span>;
  const parts = quote.pricing?.quote;
  return (
    <>
      <span className="block font-semibold tabular-nums">
        {expected === most ? usd(most) : `about ${usd(expected)}, at most ${usd(most)}`}
      </span>
      {isBrokenDown && parts && (
        <span className="block text-xs text-muted tabular-nums">
          {usd(parts.chargeBasis?.amountMicros)} and a fee of {usd(parts.serviceFee?.amountMicros)}
        </span>
      )}
    </>
  );
}
