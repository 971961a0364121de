"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { CheckField } from "@/components/blocks/form/fields";
import { ResourceTable } from "@/components/blocks/list/resource-table";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { CreateKey } from "./create-key";
import { KEY_COLUMNS, RevokeKey } from "./key-columns";

/** The API keys of a project. */
export function KeyRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: keys } = useSuspenseQuery(trpc.keys.list.queryOptions({ project_id: projectId }));
  const [isRevokedShown, setRevokedShown] = useState(false);
  const { project, may, whyNot } = useProject(projectId);
  const canWrite = may("member");
  const shown = keys.filter((key) => isRevokedShown || key.revokedAt === null);
  const revokedCount = keys.filter((key) => key.revokedAt !== null).length;

  return (
    <>
      <PageHeader title="API keys" actions={canWrite && project && <CreateKey project={project} />}>
        Keys authenticate agents and programs. Only a hash is stored, so a key is shown once.
      </PageHeader>
      <Card className="overflow-hidden">
        {shown.length === 0 ? (
          <EmptyState
            icon={KeyRound}
            title={revokedCount > 0 ? "No active keys" : "No API keys yet"}
            action={canWrite && project && <CreateKey project={project} />}
          >
            {canWrite
              ? "Create one to let an agent or a program run capabilities in this project."
              : whyNot("member", "create one")}
          </EmptyState>
        ) : (
          <ResourceTable
            label="API keys, newest first"
            rows={shown}
            idOf={({ keyId }) => keyId}
            marks={({ name }) => ({ "data-key": name })}
            columns={COLUMNS}
            actions={canWrite ? (key) => <RevokeKey apiKey={key} /> : undefined}
          />
        )}
      </Card>
      {revokedCount > 0 && (
        <div className="mt-3">
          <CheckField
            name="revoked"
            label={`Show ${revokedCount === 1 ? "1 revoked key" : `${revokedCount} revoked keys`}`}
            isQuiet
            checked={isRevokedShown}
            onChange={setRevokedShown}
          />
        </div>
      )}
    </>
  );
}

const { name, prefix, access, scopes, status, lastUsed, created } = KEY_COLUMNS;
const COLUMNS = [name, prefix, access, scopes, status, lastUsed, created];
