"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { BackLink } from "@/components/shell/back-link";
import { PageHeader } from "@/components/shell/page-header";
import { useRole, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { EMPTY_DRAFT, toDraft } from "./draft";
import { requestHref, requestsHref } from "./list-state";
import { RequestForm } from "./request-form";
import { useCreate, useRevise } from "./use-send";

/** A new request by hand. */
export function WriteRequest({ projectId }: { projectId: string }) {
  const create = useCreate(projectId);
  const { mayWrite } = useRole(projectId);
  // One key for one visit: sending it twice files it once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <div className="max-w-3xl">
      <BackLink href={requestsHref(projectId)}>Requests</BackLink>
      <div className="mt-2">
        <PageHeader title="Write a request">
          It is kept as a draft. Nobody reviews it before it is submitted, and nothing costs anything before a
          person pays a quote.
        </PageHeader>
      </div>
      {mayWrite ? (
        <RequestForm
          initial={EMPTY_DRAFT}
          action="Save draft"
          isPending={create.isPending || create.isSuccess}
          isSaved={create.isSuccess}
          error={create.error}
          cancel={<Cancel href={requestsHref(projectId)} />}
          onSend={(body) => create.mutate({ ...body, projectId, idempotencyKey })}
        />
      ) : (
        <ViewersRead />
      )}
    </div>
  );
}

/** Another wording of a request. */
export function ReviseRequest({ projectId, requestId }: { projectId: string; requestId: string }) {
  const trpc = useTRPC();
  const { data: request } = useSuspenseQuery({
    ...trpc.requests.get.queryOptions({ request_id: requestId }),
    refetchOnWindowFocus: false,
  });
  const revise = useRevise(projectId);
  const { mayWrite } = useRole(projectId);
  const [draft] = useState(() => toDraft(request.revision.content));
  return (
    <div className="max-w-3xl">
      <BackLink href={requestHref(projectId, requestId)}>The request</BackLink>
      <div className="mt-2">
        <PageHeader title="Revise the request">
          It becomes a draft again and has to be submitted once more. Earlier wordings stay as they were.
        </PageHeader>
      </div>
      {request.status === "quoted" && (
        <Notice tone="warn" title="Its quote ends" className="mb-5">
          The quote is for the wording as it is. Once this is saved it can no longer be paid.
        </Notice>
      )}
      {mayWrite ? (
        <RequestForm
          initial={draft}
          action="Save revision"
          isPending={revise.isPending || revise.isSuccess}
          isSaved={revise.isSuccess}
          error={revise.error}
          cancel={<Cancel href={requestHref(projectId, requestId)} />}
          onSend={(body) => revise.mutate({ request_id: requestId, body })}
        />
      ) : (
        <ViewersRead />
      )}
    </div>
  );
}

function Cancel({ href }: { href: string }) {
  return (
    <Button asChild>
      <Link href={href}>Cancel</Link>
    </Button>
  );
}

function ViewersRead() {
  return (
    <Notice tone="busy" title="Viewers read">
      Your role here is viewer. Members, admins and owners write requests.
    </Notice>
  );
}
