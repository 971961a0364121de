"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Archive, Ban, CircleCheck, Code, PanelsTopLeft, Plus } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { CheckField } from "@/components/blocks/form/fields";
import { defineStatus } from "@/components/blocks/status/status";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { CopyableId } from "@/components/ui/copyable-id";
import { Dialog, DialogContent } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import type { EmbedDefinition } from "@/server/contract/embeds";
import { DefinitionDialog } from "./definition-dialog";

/** A project's embeds, which host pages can show. */
export function DefinitionList({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: definitions } = useSuspenseQuery(
    trpc.embeds.definitions.queryOptions({ project_id: projectId }),
  );
  const { project, may, whyNot } = useProject(projectId);
  const canWrite = may("member");
  const [isAdding, setAdding] = useState(false);
  const [isArchiveShown, setArchiveShown] = useState(false);
  const archived = definitions.filter(({ status }) => status === "archived");
  const shown = definitions.filter(({ status }) => isArchiveShown || status !== "archived");
  const add = canWrite && (
    <Button variant="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden />
      Create embed
    </Button>
  );
  return (
    <>
      <PageHeader title="Embeds" actions={shown.length > 0 && add}>
        Run capabilities inside your own web pages. Each visitor gets a session with spend and job limits.
      </PageHeader>
      {isAdding && project && <DefinitionDialog project={project} onClose={() => setAdding(false)} />}
      <Card className="overflow-hidden">
        {shown.length === 0 ? (
          <EmptyState
            icon={PanelsTopLeft}
            title={archived.length > 0 ? "No active embeds" : "No embeds yet"}
            action={add}
          >
            {canWrite
              ? "Create one to show a capability's form in your pages and receive its results."
              : whyNot("member", "create one")}
          </EmptyState>
        ) : (
          <ul aria-label="Embeds, newest first" className="divide-y divide-line">
            {shown.map((definition) => (
              <DefinitionRow
                key={definition.id}
                definition={definition}
                projectId={projectId}
                project={canWrite ? project : undefined}
              />
            ))}
          </ul>
        )}
      </Card>
      {archived.length > 0 && (
        <div className="mt-3">
          <CheckField
            name="archived"
            label={`Show ${archived.length === 1 ? "1 archived embed" : `${archived.length} archived embeds`}`}
            isQuiet
            checked={isArchiveShown}
            onChange={setArchiveShown}
          />
        </div>
      )}
    </>
  );
}

function DefinitionRow({
  definition,
  projectId,
  project,
}: {
  definition: EmbedDefinition;
  projectId: string;
  /** Passed to readers who may change it. */
  project: ProjectChoice | undefined;
}) {
  const [open, setOpen] = useState<"edit" | "snippet" | null>(null);
  const { displayName: name, currentVersion: version } = definition;
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-3 px-4 py-3" data-panel={definition.key}>
      <div className="min-w-0 flex-1 basis-72 space-y-1.5">
        <div className="flex flex-wrap items-center gap-2">
          <StatusBadge status={definition.status} />
          <span dir="auto" className="min-w-0 text-sm font-medium [overflow-wrap:anywhere]">
            {name}
          </span>
        </div>
        <p className="text-sm [overflow-wrap:anywhere]">
          <code className="text-xs">{version.capabilityKey ?? "Any capability"}</code>
        </p>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
          <code className="[overflow-wrap:anywhere]">{definition.key}</code>
          <span>Version {version.version}</span>
          <span>{definition.projectId ? "This project" : "Every project"}</span>
          <span title={version.allowedOrigins.join("\n") || undefined}>
            {originsOf(version.allowedOrigins)}
          </span>
          <span>
            Updated <Ago at={definition.updatedAt} />
          </span>
          <CopyableId id={definition.id} what="embed id" short />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {definition.status === "active" && (
          <Button size="sm" aria-label={`Embed ${name}`} onClick={() => setOpen("snippet")}>
            <Code aria-hidden />
            Embed
          </Button>
        )}
        <SnippetDialog
          definition={definition}
          projectId={projectId}
          isOpen={open === "snippet"}
          onOpenChange={() => setOpen(null)}
        />
        {project && (
          <>
            <Button size="sm" aria-label={`Edit ${name}`} onClick={() => setOpen("edit")}>
              Edit
            </Button>
            {open === "edit" && (
              <DefinitionDialog project={project} definition={definition} onClose={() => setOpen(null)} />
            )}
            <StatusButtons definition={definition} />
          </>
        )}
      </div>
    </li>
  );
}

function originsOf(origins: string[]): string {
  if (origins.length === 0) return "Origins set per session";
  return origins.length === 1 ? (origins[0] ?? "") : `${origins.length} origins`;
}

const { StatusBadge } = defineStatus({
  active: { label: "Active", icon: CircleCheck, tone: "good" },
  disabled: { label: "Disabled", icon: Ban },
  archived: { label: "Archived", icon: Archive },
});

const DONE = { active: "Embed enabled", disabled: "Embed disabled", archived: "Embed archived" };

function StatusButtons({ definition }: { definition: EmbedDefinition }) {
  const trpc = useTRPC();
  const change = useAction(trpc.embeds.change.mutationOptions(), {
    done: ({ status }) => DONE[status],
    refresh: [trpc.embeds.pathKey()],
  });
  const { id: definition_id, displayName: name, status } = definition;
  const verb = status === "active" ? "Disable" : "Enable";
  const become = (next: EmbedDefinition["status"]) => change.mutate({ definition_id, status: next });
  return (
    <>
      <ConfirmAction
        label={verb}
        isAsked={status === "active"}
        title={`Disable “${name}”?`}
        description="Its sessions are refused immediately, and no new ones can be created. If you enable it again, sessions that have not expired work again."
        action="Disable embed"
        onConfirm={() => become(status === "active" ? "disabled" : "active")}
        size="sm"
        pending={change.isPending}
        aria-label={`${verb} ${name}`}
      />
      {status !== "archived" && (
        <ConfirmAction
          label="Archive"
          title={`Archive “${name}”?`}
          description="Its sessions are refused immediately, and it is hidden from lists. You can enable it again."
          action="Archive embed"
          onConfirm={() => become("archived")}
          size="sm"
          pending={change.isPending}
          aria-label={`Archive ${name}`}
        />
      )}
    </>
  );
}

/** The code a host copies to show an embed: the server creates a session, the page shows it. */
function SnippetDialog({
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
