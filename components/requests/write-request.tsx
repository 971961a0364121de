"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { type ComponentProps, type ReactNode, useState } from "react";
import { useProject } from "@/components/blocks/data/use-project";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Notice } from "@/components/ui/notice";
import { EMPTY_DRAFT, toDraft } from "./draft";
import { requestHref, requestsHref } from "./list-state";
import { RequestForm } from "./request-form";
import { useCreate, useRevise } from "./use-send";

/** The page for a new request. */
export function WriteRequest({ projectId }: { projectId: string }) {
  const create = useCreate(projectId);
  // One idempotency key per visit: sending twice files one request.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  return (
    <Writing
      projectId={projectId}
      back={{ href: requestsHref(projectId), label: "Requests" }}
      title="Write request"
      intro="The request is saved as a draft. It is reviewed after you submit it, and nothing is charged until a person pays a quote."
      initial={EMPTY_DRAFT}
      submit="Save draft"
      action={create}
      onSend={(body) => create.mutate({ ...body, projectId, idempotencyKey })}
    />
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
  const [draft] = useState(() => toDraft(request.revision.content));
  return (
    <Writing
      projectId={projectId}
      back={{ href: requestHref(projectId, requestId), label: "Request" }}
      title="Revise request"
      intro="The request becomes a draft again, and must be submitted again. Earlier revisions do not change."
      initial={draft}
      submit="Save revision"
      action={revise}
      onSend={(body) => revise.mutate({ request_id: requestId, body })}
    >
      {request.status === "quoted" && (
        <Notice tone="warn" title="The current quote will end" className="mb-5">
          The quote is for the current revision. Once you save a new one, the quote can no longer be paid.
        </Notice>
      )}
    </Writing>
  );
}

type Props = {
  projectId: string;
  back: { href: string; label: string };
  title: string;
  intro: string;
  children?: ReactNode;
} & Omit<ComponentProps<typeof RequestForm>, "backHref">;

function Writing({ projectId, back, title, intro, children, ...form }: Props) {
  return (
    <div className="max-w-3xl">
      <PageHeader back={back} title={title}>
        {intro}
      </PageHeader>
      {children}
      {useProject(projectId).may("member") ? (
        <RequestForm backHref={back.href} {...form} />
      ) : (
        <Notice tone="busy" title="Read-only access">
          Your role here is viewer. Members, admins and owners can write requests.
        </Notice>
      )}
    </div>
  );
}
