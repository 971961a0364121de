"use client";
import { CircleCheck, CircleX, FileLock2, Upload } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { isJsonObject } from "@/components/blocks/data/unknown";
import { useAction } from "@/components/blocks/data/use-action";
import { sentencesOf, useTRPC } from "@/components/data/trpc";
import { manifestsHref } from "@/components/pins/list-state";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader, Section } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Textarea } from "@/components/ui/textarea";
import { VerifyHere } from "@/components/verify/verify-here";
import type { JsonObject } from "@/server/contract/common";
import type { LockfileVerification } from "@/server/contract/provenance";

type CheckName = LockfileVerification["checks"][number]["name"];

/** A statement in plain words for each check. */
const QUESTIONS: Record<CheckName, string> = {
  pin_resolves: "The pinned model is still available",
  native_api_supported: "Its API is still supported",
  request_semantics_unchanged: "The same request still has the same meaning",
  credentials_available: "This project has a connection for it",
  conformance_passed: "It ran successfully here in the last 30 days",
};

/** Checks whether a lockfile's pin is still valid. */
export function LockfileRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const verify = useAction(trpc.provenance.verifyLockfile.mutationOptions(), { isInPlace: true });
  const lockfile = parsed(text);

  function take(fresh: string) {
    setText(fresh);
    setProblem(null);
    verify.reset();
  }
  function check() {
    if (!lockfile)
      return setProblem("This is not a JSON object. You can download a lockfile from a record's page.");
    verify.mutate({ body: lockfile });
  }

  return (
    <>
      <PageHeader back={{ href: manifestsHref(projectId), label: "Provenance" }} title="Check lockfile">
        A lockfile has one pin with its settings and hashes. Check whether it still runs the same.
      </PageHeader>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <DropZone onText={take} onProblem={setProblem}>
          <Label htmlFor="lockfile-text">Lockfile</Label>
          <Textarea
            id="lockfile-text"
            value={text}
            spellCheck={false}
            placeholder="Drop the file here, or paste its content"
            aria-invalid={problem !== null || undefined}
            aria-describedby={problem ? "lockfile-problem" : undefined}
            className="min-h-56 font-mono text-xs"
            onChange={({ target }) => take(target.value)}
          />
          {problem && (
            <p id="lockfile-problem" role="alert" className="text-xs font-medium text-bad">
              {problem}
            </p>
          )}
          <Button variant="primary" pending={verify.isPending} disabled={text.trim() === ""} onClick={check}>
            Check lockfile
          </Button>
        </DropZone>
        <div className="grid min-w-0 gap-5">
          <Card aria-labelledby="checks-title" aria-busy={verify.isPending}>
            <CardHeader title="Server checks" id="checks-title" />
            <div role="status">{verify.data && <Verdict result={verify.data} />}</div>
            {verify.error && (
              <CardBody>
                <Notice tone="bad" role="alert" title="Could not check the lockfile">
                  {sentencesOf(verify.error)}
                </Notice>
              </CardBody>
            )}
            {!verify.data && !verify.error && (
              <EmptyState icon={FileLock2} title="No checks yet">
                The server runs five checks and explains each result.
              </EmptyState>
            )}
          </Card>
          {lockfile && (
            <Section title="Signature">
              {/* A changed text is a different document, so an old result is dropped. */}
              <VerifyHere key={text} what="lockfile" document={lockfile} />
            </Section>
          )}
        </div>
      </div>
    </>
  );
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

const MOST_BYTES = 1024 * 1024;

/** Accepts a file by drop or button, and passes on its text. */
function DropZone({
  onText,
  onProblem,
  children,
}: {
  onText(text: string): void;
  onProblem(problem: string): void;
  children: React.ReactNode;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const [isDraggedOver, setOver] = useState(false);

  async function take(file: File | undefined) {
    if (!file) return;
    if (file.size > MOST_BYTES) return onProblem("This file is too large to be a lockfile.");
    onText(await file.text());
  }
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  }

  return (
    <Card
      aria-labelledby="lockfile-title"
      className={cn("transition-colors", isDraggedOver && "border-focus bg-hover")}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <CardHeader
        title="Lockfile"
        id="lockfile-title"
        actions={
          <>
            <input
              ref={picker}
              type="file"
              accept=".json,application/json"
              className="sr-only"
              tabIndex={-1}
              aria-label="Lockfile from a file"
              onChange={({ target }) => {
                void take(target.files?.[0]);
                target.value = ""; // the same file may be chosen again
              }}
            />
            <Button size="sm" onClick={() => picker.current?.click()}>
              <Upload aria-hidden />
              Open file
            </Button>
          </>
        }
      />
      <CardBody className="space-y-3">{children}</CardBody>
    </Card>
  );
}

function Verdict({ result }: { result: LockfileVerification }) {
  return (
    <>
      <CardBody>
        <Notice
          tone={result.verified ? "good" : "bad"}
          title={result.verified ? "Lockfile still valid" : "Lockfile no longer valid"}
        >
          {result.verified ? "All five checks passed." : "See the failed checks below."}
        </Notice>
      </CardBody>
      <ul aria-label="Checks" className="divide-y divide-line border-t border-line">
        {result.checks.map(({ name, ok, detail }) => {
          const Icon = ok ? CircleCheck : CircleX;
          return (
            <li key={name} className="flex gap-2.5 px-4 py-2.5 text-sm" data-check={name}>
              <Icon aria-hidden className={cn("mt-0.5 size-4 shrink-0", ok ? "text-good" : "text-bad")} />
              <div className="min-w-0">
                <p className="font-medium">
                  {QUESTIONS[name]}
                  <span className="font-normal text-muted">: {ok ? "yes" : "no"}</span>
                </p>
                <p className="text-xs text-muted [overflow-wrap:anywhere]">{detail}</p>
              </div>
            </li>
          );
        })}
      </ul>
    </>
  );
}
