"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { type FieldIssue, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import { Cost } from "./cost";
import { type Form, JsonText, ObjectFields } from "./fields";
import { Result } from "./result";
import { blankOf, type Path, type Schema, withValue } from "./schema";
import { Snippets } from "./snippets";
import { type Mode, useRun } from "./use-run";

type Input = Record<string, unknown>;

const MODES: Record<Mode, { label: string; run: string }> = {
  invoke_sync: { label: "Wait for the answer", run: "Run" },
  invoke_stream: { label: "Follow as it writes", run: "Stream" },
  job_async: { label: "Durable job", run: "Submit job" },
};

/** A capability tried out: its input as a form or as JSON, its price, its run, and the same request as code. */
export function Playground({
  projectId,
  capability,
}: {
  projectId: string;
  capability: CapabilityDescriptor;
}) {
  const trpc = useTRPC();
  const { data: projects } = useSuspenseQuery(trpc.projects.list.queryOptions());
  const { data: targets } = useSuspenseQuery(
    trpc.catalog.targets.queryOptions({ project_id: projectId, capability_key: capability.key }),
  );
  const role = projects.find((project) => project.projectId === projectId)?.role;
  const mayRun = role !== undefined && role !== "viewer";
  const schema = capability.inputSchema as Schema; // published by us as JSON Schema
  const [input, setInput] = useState<Input>(
    () => exampleInput(capability, 0) ?? (blankOf(schema, schema) as Input),
  );
  const [mode, setMode] = useState<Mode>(capability.executionModes[0] ?? "job_async");
  const [model, setModel] = useState("");
  /** What was refused, as it was sent: a field that changed since is no longer wrong. */
  const [sent, setSent] = useState<Input | null>(null);
  const run = useRun(projectId, capability.key);
  const resultRef = useRef<HTMLDivElement>(null);

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
  const isBusy = run.state === "sending" || run.state === "running";
  const issues = useMemo(
    () => issuesOf(run.failure, sent).filter(({ loc }) => valueAt(input, loc) === valueAt(sent, loc)),
    [run.failure, sent, input],
  );
  const form: Form = {
    root: schema,
    projectId,
    disabled: !mayRun,
    issues,
    set: (path: Path, value: unknown) => setInput((before) => withValue(before, path, value) as Input),
  };
  const loose = issues.filter(
    ({ loc }) => loc.length === 0 || !(String(loc[0]) in (schema.properties ?? {})),
  );

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
          if (!isBusy && mayRun) start();
        }}
      >
        <Tabs defaultValue="form">
          <Card aria-labelledby="input-form-title">
            <CardHeader
              title="Input"
              id="input-form-title"
              actions={
                <>
                  {capability.examples.length > 0 && (
                    <Examples
                      capability={capability}
                      disabled={!mayRun}
                      onPick={(place) => setInput(exampleInput(capability, place) ?? {})}
                    />
                  )}
                  <TabsList aria-label="View of the input">
                    <TabsTrigger value="form">Form</TabsTrigger>
                    <TabsTrigger value="json">JSON</TabsTrigger>
                  </TabsList>
                </>
              }
            />
            <CardBody>
              {loose.length > 0 && (
                <Notice tone="bad" className="mb-4">
                  {loose.map(({ loc, msg }) => (
                    <p key={`${loc.join(".")} ${msg}`}>
                      {loc.length > 0 && <code>{loc.join(".")}: </code>}
                      {msg}
                    </p>
                  ))}
                </Notice>
              )}
              <TabsContent value="form">
                <ObjectFields form={form} path={[]} schema={schema} value={input} />
              </TabsContent>
              <TabsContent value="json">
                <JsonText
                  aria={{}}
                  value={input}
                  disabled={!mayRun}
                  onChange={(value) => isObject(value) && setInput(value)}
                  label="Input as JSON"
                  className="min-h-64"
                />
              </TabsContent>
            </CardBody>
          </Card>
        </Tabs>
        <Card aria-labelledby="run-form-title">
          <CardHeader title="Run it" id="run-form-title" />
          <CardBody className="space-y-4">
            <div className="grid gap-4 sm:grid-cols-2">
              <Choice
                id="run-mode"
                label="How"
                value={mode}
                onChange={(value) => setMode(value as Mode)}
                options={capability.executionModes.map((each) => [each, MODES[each].label])}
              />
              {choices.length > 0 && (
                <Choice
                  id="run-model"
                  label="Model"
                  value={model || AUTOMATIC}
                  onChange={(value) => setModel(value === AUTOMATIC ? "" : value)}
                  options={[
                    [AUTOMATIC, "Chosen for you"],
                    ...choices.map(({ target, title }): [string, string] => [target, title]),
                  ]}
                />
              )}
            </div>
            <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
              <Button type="submit" variant="primary" size="lg" pending={isBusy} disabled={!mayRun}>
                {!isBusy && <Play aria-hidden />}
                {MODES[mode].run}
              </Button>
              <Cost projectId={projectId} capabilityKey={capability.key} request={request} enabled={mayRun} />
            </div>
            {!mayRun && (
              <p className="text-sm text-muted">
                Members of your organization can run this. Your role here is viewer.
              </p>
            )}
          </CardBody>
        </Card>
      </form>
      <div ref={resultRef} className="min-w-0 scroll-mt-4 lg:row-span-2">
        <Result run={run} projectId={projectId} />
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

const AUTOMATIC = "automatic";

function Choice({
  id,
  label,
  value,
  options,
  onChange,
}: {
  id: string;
  label: string;
  value: string;
  options: [value: string, label: string][];
  onChange(value: string): void;
}) {
  return (
    <div className="space-y-1.5">
      <Label htmlFor={id}>{label}</Label>
      <Select value={value} onValueChange={onChange}>
        <SelectTrigger id={id} />
        <SelectContent>
          {options.map(([each, name]) => (
            <SelectItem key={each} value={each}>
              {name}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
    </div>
  );
}

function Examples({
  capability,
  disabled,
  onPick,
}: {
  capability: CapabilityDescriptor;
  disabled: boolean;
  onPick(place: number): void;
}) {
  return (
    <Select value="" disabled={disabled} onValueChange={(place) => onPick(Number(place))}>
      <SelectTrigger
        aria-label="Load an example"
        placeholder="Examples"
        className="h-7 w-auto max-w-40 text-xs"
      />
      <SelectContent>
        {capability.examples.map((example, place) => (
          <SelectItem key={titleOf(example, place)} value={String(place)}>
            {titleOf(example, place)}
          </SelectItem>
        ))}
      </SelectContent>
    </Select>
  );
}

const titleOf = (example: Record<string, unknown>, place: number) =>
  typeof example.title === "string" ? example.title : `Example ${place + 1}`;

function exampleInput(capability: CapabilityDescriptor, place: number): Input | null {
  const input = capability.examples[place]?.input;
  return isObject(input) ? input : null;
}

const isObject = (value: unknown): value is Input =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Failure = ReturnType<typeof useRun>["failure"];

/** What was refused, by its place in the input. */
function issuesOf(failure: Failure, sent: Input | null): FieldIssue[] {
  if (!failure || !sent) return [];
  const within = failure.issues.map((issue) => ({ ...issue, loc: inInput(issue.loc) }));
  const { field } = failure.details;
  if (within.length > 0 || typeof field !== "string") return within;
  const loc = inInput(
    field
      .replace(/^\//, "")
      .split(/[./]/)
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
  );
  return [{ loc, msg: failure.message, type: failure.code ?? "" }];
}

const inInput = (loc: (string | number)[]) => {
  const inBody = loc[0] === "body" ? loc.slice(1) : loc;
  return inBody[0] === "input" ? inBody.slice(1) : inBody;
};

function valueAt(whole: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | undefined)?.[step],
    whole,
  );
}
