import { Rocket } from "lucide-react";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";

/** Shown in a project without jobs: the command that runs the first one. */
export function FirstJob({ baseUrl, projectId }: { baseUrl: string; projectId: string }) {
  return (
    <EmptyState
      icon={Rocket}
      title="Run your first job"
      action={
        <Button asChild variant="primary">
          <Link href={`/projects/${projectId}/keys`}>Create API key</Link>
        </Button>
      }
    >
      <p>
        Jobs that agents and programs submit appear here with their events, output and receipt. Create a key,
        put it into <code className="text-sm">CAPSTAN_API_KEY</code> and submit one:
      </p>
      <div className="mx-auto mt-4 w-fit max-w-[calc(100vw-6rem)] text-left text-text">
        <CodeBlock what="command" code={firstJobCommand(baseUrl, projectId)} />
      </div>
    </EmptyState>
  );
}

export function firstJobCommand(baseUrl: string, projectId: string): string {
  return `curl -sS ${baseUrl}/v1/capabilities/text.general.fast.v1/jobs \\
  -H "Authorization: Bearer $CAPSTAN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "context": { "projectId": "${projectId}" },
    "input": { "messages": [{ "role": "user", "content": "Say hello" }] }
  }'`;
}
