import { Lightbulb } from "lucide-react";
import { postCommand, Snippet } from "@/components/pins/first-pin";
import { EmptyState } from "@/components/ui/empty-state";

/** What a project without requests shows: how an agent files one, and how a person does. */
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
    <EmptyState icon={Lightbulb} title="Ask for a capability that is missing" action={action}>
      <p>
        An agent that finds nothing with <code className="text-sm">/v1/capabilities/resolve</code> files the
        need and submits it. An operator prices it, and only a person of yours can pay. Put an API key into{" "}
        <code className="text-sm">CAPSTAN_API_KEY</code> and file one:
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
