import { Rocket } from "lucide-react";
import { FirstCommand, postCommand } from "@/components/blocks/feedback/first-command";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";

/** Shown in a project without jobs: the command that runs the first one. */
export function FirstJob({ baseUrl, projectId }: { baseUrl: string; projectId: string }) {
  return (
    <FirstCommand
      icon={Rocket}
      title="Run your first job"
      action={
        <Button asChild variant="primary">
          <Link href={`/projects/${projectId}/keys`}>Create API key</Link>
        </Button>
      }
      command={postCommand(
        baseUrl,
        "/v1/capabilities/text.general.fast.v1/jobs",
        `{
    "context": { "projectId": "${projectId}" },
    "input": { "messages": [{ "role": "user", "content": "Say hello" }] }
  }`,
      )}
    >
      Jobs that agents and programs submit appear here with their events, output and receipt. Create a key,
      put it into <code className="text-sm">CAPSTAN_API_KEY</code> and submit one:
    </FirstCommand>
  );
}
