"use client";
import { CodeBlock } from "@/components/ui/code-block";
import { Dialog, DialogContent } from "@/components/ui/dialog";
import type { EmbedDefinition } from "@/server/contract/embeds";

/** The code a host copies to show an embed: the server creates a session, the page shows it. */
export function SnippetDialog({
  definition,
  projectId,
  isOpen,
  onOpenChange,
}: {
  definition: EmbedDefinition;
  projectId: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <Dialog open={isOpen} onOpenChange={onOpenChange}>
      {isOpen && (
        <DialogContent
          className="max-w-2xl"
          title={`Embed “${definition.displayName}”`}
          description="Your server creates a session for each visitor with an API key, which stays on the server. The page receives only the session."
        >
          <div className="space-y-4">
            <div>
              <h3 className="mb-1.5 text-sm font-medium">In the page</h3>
              <CodeBlock what="Page code" code={pageOf(window.location.origin)} />
            </div>
            <div>
              <h3 className="mb-1.5 text-sm font-medium">On your server (Node.js)</h3>
              <CodeBlock what="Server code" code={serverOf(window.location.origin, projectId, definition)} />
            </div>
            <p className="text-xs text-muted">
              The key needs the scopes <code>capabilities:run</code>, <code>jobs:read</code> and{" "}
              <code>jobs:write</code>. The origin must match the page's origin exactly, as the browser sends
              it.
            </p>
          </div>
        </DialogContent>
      )}
    </Dialog>
  );
}

const pageOf = (origin: string) => `<script src="${origin}/capstan-panel.js" defer></script>
<capstan-panel session-endpoint="/panel-session"></capstan-panel>`;

function serverOf(origin: string, projectId: string, { id, currentVersion }: EmbedDefinition): string {
  const body = {
    projectId,
    panelDefinitionId: id,
    allowedOrigins: [currentVersion.allowedOrigins[0] ?? "https://app.example"],
    maxSpendMicros: 1_000_000,
    maxJobs: 10,
    expiresInMinutes: 60,
  };
  const written = JSON.stringify(body, null, 2)
    .replaceAll("\n", "\n  ")
    .replaceAll(/"(\w+)":/g, "$1:");
  return `// Handles POST /panel-session from your pages, after authenticating the visitor.
const answer = await fetch("${origin}/v1/panel-sessions", {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.CAPSTAN_API_KEY}\`,
    "content-type": "application/json",
  },
  body: JSON.stringify(${written}),
});
const { sessionId, accessToken } = await answer.json();
// Return {sessionId, accessToken} to the page, with Cache-Control: no-store.`;
}
