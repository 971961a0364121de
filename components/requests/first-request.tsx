import { Lightbulb } from "lucide-react";
import type { ReactNode } from "react";
import { FirstCommand } from "@/components/blocks/feedback/first-command";

type Props = { baseUrl: string; projectId: string; action: ReactNode };

/** Shown in a project without requests: how an agent or a person files one. */
export const FirstRequest = ({ projectId, ...rest }: Props) => (
  <FirstCommand
    icon={Lightbulb}
    title="Request a missing capability"
    path="/v1/capability-requests"
    body={`{
    "projectId": "${projectId}",
    "summary": "Read measurements off a technical drawing",
    "need": "A PDF page goes in; every dimension with its unit comes out.",
    "acceptanceCases": [
      { "input": { "page": 1 }, "expected": { "dimensions": 12 } }
    ]
  }`}
    {...rest}
  >
    When an agent finds nothing with <code className="text-sm">/v1/capabilities/resolve</code>, it can file a
    request and submit it. An operator quotes a price, and only a person in your organization can pay. Set an
    API key as <code className="text-sm">CAPSTAN_API_KEY</code> and file a request:
  </FirstCommand>
);
