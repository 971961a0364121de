"use client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { z } from "zod";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { HiddenContent } from "@/components/ui/hidden-content";
import { JsonView } from "@/components/ui/json-view";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { Words } from "@/components/ui/words";
import { isPrivate } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";

/** Schemas that read better as text. Everything else is shown as JSON. */
const TextOutput = z.looseObject({ content: z.string() });
const Conversation = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.string() })).min(1),
});
const Prompt = z.looseObject({ prompt: z.string() });
const Snapshot = z.looseObject({ input: z.json().optional() });

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
    <Card aria-labelledby={id} aria-busy={whole.isFetching}>
      <CardHeader title={title} id={id} />
      <HiddenContent of="job" onShow={() => setShown(true)} />
    </Card>
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
  const text = TextOutput.safeParse(output).data?.content;
  return (
    <Tabs defaultValue={text === undefined ? "json" : "text"}>
      <Card aria-labelledby="output-title">
        <CardHeader
          title="Output"
          id="output-title"
          actions={
            text !== undefined && (
              <TabsList aria-label="Output format">
                <TabsTrigger value="text">Text</TabsTrigger>
                <TabsTrigger value="json">JSON</TabsTrigger>
              </TabsList>
            )
          }
        />
        <CardBody>
          {text !== undefined && (
            <TabsContent value="text">
              <Words text={text} what="output" />
            </TabsContent>
          )}
          <TabsContent value="json">
            <JsonView value={output} what="output as JSON" />
          </TabsContent>
        </CardBody>
      </Card>
    </Tabs>
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

function InputCard({ job }: { job: Job }) {
  const snapshot = job.requestSnapshot;
  if (!snapshot) {
    return (
      <Card aria-labelledby="input-title">
        <CardHeader title="Input" id="input-title" />
        <p className="p-4 text-sm text-muted">
          The content of this request is no longer stored. The receipt has its hash.
        </p>
      </Card>
    );
  }
  const input = Snapshot.safeParse(snapshot).data?.input ?? null;
  return (
    <Tabs defaultValue="input">
      <Card aria-labelledby="input-title">
        <CardHeader
          title="Input"
          id="input-title"
          actions={
            <TabsList aria-label="Part of the request">
              <TabsTrigger value="input">Input</TabsTrigger>
              <TabsTrigger value="request">Full request</TabsTrigger>
            </TabsList>
          }
        />
        <CardBody>
          <TabsContent value="input">
            <ReadableInput input={input} />
          </TabsContent>
          <TabsContent value="request">
            <JsonView value={snapshot} what="request" />
          </TabsContent>
        </CardBody>
      </Card>
    </Tabs>
  );
}

function ReadableInput({ input }: { input: z.core.util.JSONType }) {
  const conversation = Conversation.safeParse(input).data;
  if (conversation) {
    // `prompt` repeats the last user message, which is already shown.
    const { messages, prompt: _, ...settings } = conversation;
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
  const prompt = Prompt.safeParse(input).data;
  if (prompt) {
    const { prompt: words, ...settings } = prompt;
    return (
      <div className="space-y-3">
        <Words text={words} what="prompt" />
        <Settings values={settings} />
      </div>
    );
  }
  return <JsonView value={input} what="input" />;
}

function Settings({ values }: { values: Record<string, unknown> }) {
  if (Object.keys(values).length === 0) return null;
  return <JsonView value={values} what="settings of the input" />;
}
