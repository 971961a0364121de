"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import { EMPTY_DRAFT, toDraft } from "./draft";
import { requestHref, requestsHref } from "./list-state";
import { RequestForm } from "./request-form";
import { useCreate, useRevise } from "./use-send";

/** The page for a new request. */
export function WriteRequest({ projectId }: { projectId: string }) {
  const create = useCreate(projectId);
  const mayWrite = useProject(projectId).may("member");
  // One idempotency key per visit: sending twice files one request.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <div className="max-w-3xl">
      <PageHeader back={{ href: requestsHref(projectId), label: "Requests" }} title="Write request">
        The request is saved as a draft. It is reviewed after you submit it, and nothing is charged until a
        person pays a quote.
      </PageHeader>
      {mayWrite ? (
        <RequestForm
          initial={EMPTY_DRAFT}
          submit="Save draft"
          action={create}
          backHref={requestsHref(projectId)}
          onSend={(body) => create.mutate({ ...body, projectId, idempotencyKey })}
        />
      ) : (
        <ViewersRead />
      )}
    </div>
  );
}

/** The page that revises a request. */
export function ReviseRequest({ projectId, requestId }: { projectId: string; requestId: string }) {
  const trpc = useTRPC();
  const { data: request } = useSuspenseQuery({
    ...trpc.requests.get.queryOptions({ request_id: requestId }),
    refetchOnWindowFocus: false,
  });
  const revise = useRevise(projectId);
  const mayWrite = useProject(projectId).may("member");
  const [draft] = useState(() => toDraft(request.revision.content));
  return (
    <div className="max-w-3xl">
      <PageHeader back={{ href: requestHref(projectId, requestId), label: "Request" }} title="Revise request">
        The request becomes a draft again, and must be submitted again. Earlier revisions do not change.
      </PageHeader>
      {request.status === "quoted" && (
        <Notice tone="warn" title="The current quote will end" className="mb-5">
          The quote is for the current revision. Once you save a new one, the quote can no longer be paid.
        </Notice>
      )}
      {mayWrite ? (
        <RequestForm
          initial={draft}
          submit="Save revision"
          action={revise}
          backHref={requestHref(projectId, requestId)}
          onSend={(body) => revise.mutate({ request_id: requestId, body })}
        />
      ) : (
        <ViewersRead />
      )}
    </div>
  );
}

function ViewersRead() {
  return (
    <Notice tone="busy" title="Read-only access">
      Your role here is viewer. Members, admins and owners can write requests.
    </Notice>
  );
}
