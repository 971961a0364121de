import { Layers, Pin } from "lucide-react";
import { CreateKeyLink, FirstCommand } from "@/components/blocks/feedback/first-command";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";

const SANDBOX = '{ "provider": "sandbox", "model": "sandbox-1", "api": "responses" }';

type Props = { baseUrl: string; projectId: string };

/** Shown in a project without pinned records: how to create the first one. */
export function FirstPin({ baseUrl, projectId, mayRun }: Props & { mayRun: boolean }) {
  return (
    <FirstCommand
      icon={Pin}
      title="Run your first pinned request"
      action={
        mayRun && (
          <Button asChild variant="primary">
            <Link href={`/projects/${projectId}/pinned/new`}>Run pinned request</Link>
          </Button>
        )
      }
      baseUrl={baseUrl}
      path="/v1/inference/pinned"
      body={`{
    "context": { "projectId": "${projectId}" },
    "pin": ${SANDBOX},
    "input": "Say hello"
  }`}
    >
      A pinned request goes to one provider, model and interface, exactly as it was written, and creates a
      signed record. Set an API key as <code className="text-sm">CAPSTAN_API_KEY</code> and send one:
    </FirstCommand>
  );
}

/** Shown in a project without bulks: how to create the first one. */
export function FirstBulk({ baseUrl, projectId }: Props) {
  return (
    <FirstCommand
      icon={Layers}
      title="No bulks yet"
      action={<CreateKeyLink projectId={projectId} />}
      baseUrl={baseUrl}
      path="/v1/inference/pinned/bulk"
      body={`{
    "context": { "projectId": "${projectId}" },
    "pin": ${SANDBOX},
    "concurrency": 8,
    "items": [
      { "id": "first", "input": "Say hello" },
      { "id": "second", "input": "Say goodbye" }
    ]
  }`}
    >
      A bulk sends many inputs to one pin. Set <code className="text-sm">CAPSTAN_API_KEY</code> to an API key
      and send your first bulk:
    </FirstCommand>
  );
}
