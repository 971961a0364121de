import { Pin } from "lucide-react";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";

type Props = { baseUrl: string; projectId: string; mayRun: boolean };

/** Shown in a project without pinned records: how to create the first one. */
export function FirstPin({ baseUrl, projectId, mayRun }: Props) {
  return (
    <EmptyState
      icon={Pin}
      title="Run your first pinned request"
      action={
        mayRun && (
          <Button asChild variant="primary">
            <Link href={`/projects/${projectId}/pinned/new`}>Run pinned request</Link>
          </Button>
        )
      }
    >
      <p>
        A pinned request goes to one provider, model and interface, exactly as it was written, and creates a
        signed record. Set an API key as <code className="text-sm">CAPSTAN_API_KEY</code> and send one:
      </p>
      <Snippet what="command" code={firstPinCommand(baseUrl, projectId)} />
    </EmptyState>
  );
}

/** A code block centred in an empty state. */
export function Snippet({ what, code }: { what: string; code: string }) {
  return (
    <div className="mx-auto mt-4 w-fit max-w-[calc(100vw-6rem)] text-left text-text">
      <CodeBlock what={what} code={code} />
    </div>
  );
}

const SANDBOX = '{ "provider": "sandbox", "model": "sandbox-1", "api": "responses" }';

/** A curl command that posts to `path`. */
export function postCommand(baseUrl: string, path: string, body: string): string {
  return `curl -sS ${baseUrl}${path} \\
  -H "Authorization: Bearer $CAPSTAN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}

function firstPinCommand(baseUrl: string, projectId: string): string {
  return postCommand(
    baseUrl,
    "/v1/inference/pinned",
    `{
    "context": { "projectId": "${projectId}" },
    "pin": ${SANDBOX},
    "input": "Say hello"
  }`,
  );
}

export function firstBulkCommand(baseUrl: string, projectId: string): string {
  return postCommand(
    baseUrl,
    "/v1/inference/pinned/bulk",
    `{
    "context": { "projectId": "${projectId}" },
    "pin": ${SANDBOX},
    "concurrency": 8,
    "items": [
      { "id": "first", "input": "Say hello" },
      { "id": "second", "input": "Say goodbye" }
    ]
  }`,
  );
}
