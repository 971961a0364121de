"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isJsonObject, textIn } from "@/components/blocks/data/unknown";
import { type CardTab, TabCard } from "@/components/blocks/detail/tab-card";
import { toFailure, useTRPC } from "@/components/data/trpc";
import { formatDuration } from "@/components/time/format";
import { CardBody, Section } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import { HiddenContent } from "@/components/ui/hidden-content";
import { JsonView } from "@/components/ui/json-view";
import { Notice } from "@/components/ui/notice";
import { Words } from "@/components/ui/words";
import { isPrivate } from "@/server/contract/enums";
import type { PinnedOutput, PinnedRecord } from "@/server/contract/pinned-records";

const NOT_KEPT = "The content is not stored. The record has its hash.";

/** The request and response, shown while they are stored. Private content is shown only on request. */
export function PinContent({ record }: { record: PinnedRecord }) {
  const trpc = useTRPC();
  const isHidden = isPrivate(record.dataClassification);
  const [isShown, setShown] = useState(!isHidden);
  const { data, error, isFetching } = useQuery({
    ...trpc.pinned.content.queryOptions({ receipt_id: record.receiptId }),
    enabled: isShown,
    staleTime: isHidden ? 0 : 60_000,
  });
  const hidden = !isShown && <HiddenContent of="record" pending={isFetching} onShow={() => setShown(true)} />;
  const failed = error && (
    <CardBody>
      <Notice tone="bad" title="Could not load the content">
        {toFailure(error).message}
      </Notice>
    </CardBody>
  );
  const output = data ? data.record.output : record.output;
  const native = data ? data.record.nativeResponse : record.nativeResponse;
  return (
    <>
      {record.outputHash !== null && <OutputCard output={output}>{hidden || failed}</OutputCard>}
      <RequestCard record={record} request={data?.request} isBusy={isFetching}>
        {hidden || failed}
      </RequestCard>
      {record.nativeResponseHash !== null && (
        <Section title="Native response" hint="Exactly as the provider sent it." isFlush>
          {hidden || failed || (
            <CardBody>
              {native === undefined ? (
                <p className="text-sm text-muted">{isFetching ? "Loading …" : NOT_KEPT}</p>
              ) : (
                <JsonView value={native} what="native body" />
              )}
            </CardBody>
          )}
        </Section>
      )}
    </>
  );
}

type Instead = { children: React.ReactNode };

function OutputCard({ output, children }: { output: PinnedOutput | null } & Instead) {
  const views: CardTab[] = children
    ? [{ name: "Text", content: children, isFlush: true }]
    : output === null
      ? [{ name: "Text", content: <p className="text-sm text-muted">{NOT_KEPT}</p> }]
      : [
          { name: "Text", content: <ReadableOutput output={output} /> },
          { name: "JSON", content: <JsonView value={output} what="output as JSON" /> },
        ];
  return (
    <TabCard
      id="output-title"
      title="Output"
      hint={output && `Finish reason: ${output.finishReason}`}
      label="Output format"
      views={views}
    />
  );
}

function ReadableOutput({ output }: { output: PinnedOutput }) {
  return (
    <div className="space-y-4">
      {output.text !== "" && <Words text={output.text} what="output" />}
      {output.toolCalls.map(({ id, name, arguments: given }) => (
        <section key={id} aria-label={`Tool call ${name}`}>
          <h3 className="mb-1.5 text-xs">
            <span className="text-muted">Tool call </span>
            <code className="font-medium">{name}</code>
            <code className="ml-2 text-muted">{id}</code>
          </h3>
          <JsonView value={parsed(given)} what={`arguments of ${name}`} className="max-h-72" />
        </section>
      ))}
    </div>
  );
}

/** Models write arguments as text. Text that is not JSON is shown unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The request: its content while it is stored, and always its settings and limits as sent. */
function RequestCard({
  record,
  request,
  isBusy,
  children,
}: { record: PinnedRecord; request: unknown; isBusy: boolean } & Instead) {
  const read = isJsonObject(request) && {
    instructions: textIn(request, "instructions"),
    input: textIn(request, "input"),
  };
  const content = (
    <div className="space-y-4">
      {!read && <p className="text-sm text-muted">{isBusy ? "Loading …" : NOT_KEPT}</p>}
      {read && read.instructions !== undefined && (
        <Part title="Instructions">
          <Words text={read.instructions} what="instructions" />
        </Part>
      )}
      {read && read.input !== undefined && (
        <Part title="Input">
          <Words text={read.input} what="input" />
        </Part>
      )}
    </div>
  );
  return (
    <TabCard
      id="request-title"
      title="Request"
      label="Part of the request"
      views={[
        { name: "Content", content: children || content, isFlush: Boolean(children) },
        { name: "Settings", content: <Settings record={record} /> },
        ...(read && !children
          ? [{ name: "JSON", content: <JsonView value={request} what="request as JSON" /> }]
          : []),
      ]}
    />
  );
}

function Settings({ record: { limits, settings } }: { record: PinnedRecord }) {
  return (
    <div className="space-y-4">
      <Facts className="sm:grid-cols-2">
        <Fact name="Execution timeout">{formatDuration(limits.timeoutSeconds * 1000)}</Fact>
        <Fact name="Admission deadline">
          {limits.admissionDeadlineSeconds === 0
            ? "none (one submission)"
            : formatDuration(limits.admissionDeadlineSeconds * 1000)}
        </Fact>
      </Facts>
      <Part title="As sent to the provider">
        <JsonView value={settings} what="settings" />
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-xs text-muted">{title}</h3>
      {children}
    </section>
  );
}
