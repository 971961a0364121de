"use client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { isJsonObject, memberOf, textIn } from "@/components/blocks/data/unknown";
import { TabCard } from "@/components/blocks/detail/tab-card";
import { useTRPC } from "@/components/data/trpc";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { HiddenContent } from "@/components/ui/hidden-content";
import { JsonView } from "@/components/ui/json-view";
import { Words } from "@/components/ui/words";
import { isPrivate } from "@/server/contract/enums";
import type { Job } from "@/server/contract/jobs";
import { isBlind } from "./blind";
import { Metadata } from "./caller-facts";

/** Hides private content until the reader asks for it. */
export function PrivateContent({ job, children }: { job: Job; children: ReactNode }) {
  const [isShown, setShown] = useState(false);
  if (isShown || !isPrivate(job.dataClassification)) return children;
  return <HiddenContent of="job" onShow={() => setShown(true)} />;
}

type RevealedProps = { job: Job; title: string; id: string; children(job: Job): ReactNode };

/** A card of content. The server sends a private job's content only when the reader asks. */
function Revealed({ job, title, id, children }: RevealedProps) {
  const trpc = useTRPC();
  const [isShown, setShown] = useState(false);
  const whole = useQuery({
    ...trpc.jobs.content.queryOptions({ job_id: job.jobId }),
    enabled: isShown,
    staleTime: 0,
  });
  if (!isPrivate(job.dataClassification)) return children(job);
  if (isShown && whole.data) return children(whole.data);
  return (
    <Section title={title} id={id} isFlush aria-busy={whole.isFetching}>
      <HiddenContent of="job" onShow={() => setShown(true)} />
    </Section>
  );
}

export function JobOutput({ job }: { job: Job }) {
  if (job.typedOutput === null || job.typedOutput === undefined) return null;
  return (
    <Revealed job={job} title="Output" id="output-title">
      {(whole) => <OutputCard output={whole.typedOutput} />}
    </Revealed>
  );
}

function OutputCard({ output }: { output: Job["typedOutput"] }) {
  const text = textIn(output, "content");
  const json = { name: "JSON", content: <JsonView value={output} what="output as JSON" /> };
  return (
    <TabCard
      id="output-title"
      title="Output"
      label="Output format"
      views={
        text === undefined ? [json] : [{ name: "Text", content: <Words text={text} what="output" /> }, json]
      }
    />
  );
}

/** The request as admitted: its input formatted, and the full request as JSON. */
export function JobInput({ job }: { job: Job }) {
  return (
    <Revealed job={job} title="Input" id="input-title">
      {(whole) => <InputCard job={whole} />}
    </Revealed>
  );
}

/** The request, with the caller's own labels. */
export function JobRequest({ job }: { job: Job }) {
  return (
    <>
      <JobInput job={job} />
      <Facts>
        <Fact name="Idempotency key">
          {isBlind(job) ? null : <CopyableId id={job.idempotencyKey} what="idempotency key" />}
        </Fact>
        <Fact name="External reference">{job.externalRef}</Fact>
        <Fact name="Correlation id">
          {job.correlationId === job.comparison?.comparisonId ? null : job.correlationId}
        </Fact>
        <Fact name="Task kind">{job.taskKind}</Fact>
        <Fact name="Product">{job.productId || null}</Fact>
      </Facts>
      <Metadata metadata={job.metadata} />
    </>
  );
}

function InputCard({ job }: { job: Job }) {
  const snapshot = job.requestSnapshot;
  if (!snapshot) {
    return (
      <Section title="Input" id="input-title" isFlush>
        <p className="p-4 text-sm text-muted">
          The content of this request is no longer stored. The receipt has its hash.
        </p>
      </Section>
    );
  }
  return (
    <TabCard
      id="input-title"
      title="Input"
      label="Part of the request"
      views={[
        { name: "Input", content: <ReadableInput input={memberOf(snapshot, "input") ?? null} /> },
        { name: "Full request", content: <JsonView value={snapshot} what="request" /> },
      ]}
    />
  );
}

function ReadableInput({ input }: { input: unknown }) {
  const messages = messagesIn(input);
  if (messages && isJsonObject(input)) {
    // `prompt` repeats the last user message, which is already shown.
    const { messages: _, prompt: __, ...settings } = input;
    return (
      <div className="space-y-3">
        {messages.map(({ role, content }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages of a finished request never move
          <div key={index} className="grid gap-1 sm:grid-cols-[5rem_minmax(0,1fr)] sm:gap-3">
            <div className="text-xs leading-5.5 text-muted">{role}</div>
            <Words text={content} what={`message of ${role}`} />
          </div>
        ))}
        <Settings values={settings} />
      </div>
    );
  }
  const prompt = textIn(input, "prompt");
  if (prompt !== undefined && isJsonObject(input)) {
    const { prompt: _, ...settings } = input;
    return (
      <div className="space-y-3">
        <Words text={prompt} what="prompt" />
        <Settings values={settings} />
      </div>
    );
  }
  return <JsonView value={input} what="input" />;
}

/** The messages of a conversation whose contents are all text; null for any other input. */
function messagesIn(input: unknown): { role: string; content: string }[] | null {
  const messages = memberOf(input, "messages");
  if (!Array.isArray(messages) || messages.length === 0) return null;
  const read = messages.map((message) => ({
    role: textIn(message, "role"),
    content: textIn(message, "content"),
  }));
  return read.every(
    (each): each is { role: string; content: string } =>
      each.role !== undefined && each.content !== undefined,
  )
    ? read
    : null;
}

function Settings({ values }: { values: Record<string, unknown> }) {
  if (Object.keys(values).length === 0) return null;
  return <JsonView value={values} what="settings of the input" />;
}
