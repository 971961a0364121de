"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, Plus, TriangleAlert, Webhook } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { defineStatus } from "@/components/blocks/status/status";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import type { DeliveryEndpoint } from "@/server/contract/webhooks";
import { EndpointDialog } from "./endpoint-dialog";

/** The endpoints that receive a project's events. */
export function EndpointList({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data: endpoints } = useSuspenseQuery(
    trpc.webhooks.endpoints.queryOptions({ project_id: projectId }),
  );
  const { project, may, whyNot } = useProject(projectId);
  const canWrite = may("member");
  const [isAdding, setAdding] = useState(false);
  const add = canWrite && (
    <Button variant="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden />
      Add endpoint
    </Button>
  );
  return (
    <>
      <PageHeader title="Webhooks" actions={endpoints.length > 0 && add}>
        Send events to your own servers as they happen.
      </PageHeader>
      {isAdding && project && <EndpointDialog project={project} onClose={() => setAdding(false)} />}
      <Card className="overflow-hidden">
        {endpoints.length === 0 ? (
          <EmptyState icon={Webhook} title="No endpoints yet" action={add}>
            {canWrite
              ? "Add one to receive signed events. Failed deliveries are retried."
              : whyNot("member", "add one")}
          </EmptyState>
        ) : (
          <ul aria-label="Endpoints, newest first" className="divide-y divide-line">
            {endpoints.map((endpoint) => (
              <EndpointRow
                key={endpoint.endpointId}
                endpoint={endpoint}
                project={canWrite ? project : undefined}
              />
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}

function EndpointRow({
  endpoint,
  project,
}: {
  endpoint: DeliveryEndpoint;
  /** The project, for readers who may change the endpoint; undefined for others. */
  project: ProjectChoice | undefined;
}) {
  const [isEditing, setEditing] = useState(false);
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-3 px-4 py-3" data-endpoint={endpoint.endpointId}>
      <div className="min-w-0 flex-1 basis-72 space-y-1.5">
        <div className="flex flex-wrap items-center gap-2">
          <EndpointStatus endpoint={endpoint} />
          <span className="min-w-0 text-sm font-medium [overflow-wrap:anywhere]">{endpoint.url}</span>
        </div>
        {endpoint.disabledReason && <p className="text-sm text-warn">{endpoint.disabledReason}</p>}
        {endpoint.weakSecret && (
          <p className="text-sm text-warn">
            Its signing secret is too weak: receivers may be unable to verify it, or others may guess it. Edit
            the endpoint to replace it.
          </p>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
          <span>{endpoint.projectId ? "This project" : "Every project"}</span>
          <span title={endpoint.eventTypes.join(", ") || undefined}>{eventsOf(endpoint)}</span>
          <span>
            Added <Ago at={endpoint.createdAt} />
          </span>
          <CopyableId id={endpoint.endpointId} what="endpoint id" short />
        </div>
      </div>
      {project && (
        <div className="flex items-center gap-2">
          <Button size="sm" aria-label={`Edit ${endpoint.url}`} onClick={() => setEditing(true)}>
            Edit
          </Button>
          {isEditing && (
            <EndpointDialog project={project} endpoint={endpoint} onClose={() => setEditing(false)} />
          )}
          <SwitchEndpoint endpoint={endpoint} />
        </div>
      )}
    </li>
  );
}

function eventsOf({ eventTypes }: DeliveryEndpoint): string {
  if (eventTypes.length === 0) return "All events";
  return eventTypes.length === 1 ? (eventTypes[0] ?? "") : `${eventTypes.length} event types`;
}

const { StatusBadge } = defineStatus({
  enabled: { label: "Enabled", icon: CircleCheck, tone: "good" },
  autoDisabled: { label: "Auto-disabled", icon: TriangleAlert, tone: "warn" },
  disabled: { label: "Disabled", icon: Ban },
});

function EndpointStatus({ endpoint: { enabled, disabledReason } }: { endpoint: DeliveryEndpoint }) {
  return <StatusBadge status={enabled ? "enabled" : disabledReason ? "autoDisabled" : "disabled"} />;
}

function SwitchEndpoint({ endpoint }: { endpoint: DeliveryEndpoint }) {
  const trpc = useTRPC();
  const update = useAction(trpc.webhooks.update.mutationOptions(), {
    done: ({ enabled }) => (enabled ? "Endpoint enabled" : "Endpoint disabled"),
    refresh: [trpc.webhooks.pathKey()],
  });
  const verb = endpoint.enabled ? "Disable" : "Enable";
  return (
    <ConfirmAction
      label={verb}
      isAsked={endpoint.enabled}
      title="Disable this endpoint?"
      description="New events are no longer sent. Pending deliveries are dropped. You can replay them after you enable the endpoint again."
      action="Disable endpoint"
      onConfirm={() => update.mutate({ endpoint_id: endpoint.endpointId, enabled: !endpoint.enabled })}
      size="sm"
      pending={update.isPending}
      aria-label={`${verb} ${endpoint.url}`}
    />
  );
}
