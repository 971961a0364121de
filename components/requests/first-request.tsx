import { Lightbulb } from "lucide-react";
import { postCommand, Snippet } from "@/components/blocks/feedback/first-command";
import { EmptyState } from "@/components/ui/empty-state";

/** Shown in a project without requests: how an agent or a person files one. */
export function FirstRequest({
  baseUrl,
  projectId,
  action,
}: {
  baseUrl: string;
  projectId: string;
  action: React.ReactNode;
}) {
  return (
    <EmptyState icon={Lightbulb} title="Request a missing capability" action={action}>
      <p>
        When an agent finds nothing with <code className="text-sm">/v1/capabilities/resolve</code>, it can
        file a request and submit it. An operator quotes a price, and only a person in your organization can
        pay. Set an API key as <code className="text-sm">CAPSTAN_API_KEY</code> and file a request:
      </p>
      <Snippet what="command" code={firstRequestCommand(baseUrl, projectId)} />
    </EmptyState>
  );
}

function firstRequestCommand(baseUrl: string, projectId: string): string {
  return postCommand(
    baseUrl,
    "/v1/capability-requests",
    `{
    "projectId": "${projectId}",
    "summary": "Read measurements off a technical drawing",
    "need": "A PDF page goes in; every dimension with its unit comes out.",
    "acceptanceCases": [
      { "input": { "page": 1 }, "expected": { "dimensions": 12 } }
    ]
  }`,
  );
}
