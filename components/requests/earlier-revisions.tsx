"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import type { CapabilityRequest } from "@/server/contract/requests";
import { Folded, summaryOf, Wording } from "./wording";

/** The revisions before the current one, newest first; nothing when there are none. */
export function EarlierRevisions({ request }: { request: CapabilityRequest }) {
  const { data: revisions } = useSuspenseQuery(
    useTRPC().requests.revisions.queryOptions({ request_id: request.id }),
  );
  const earlier = revisions.filter(({ number }) => number < request.revision.number);
  if (earlier.length === 0) return null;
  return (
    <Card aria-labelledby="earlier-title">
      <CardHeader title="Earlier revisions" id="earlier-title" hint="Read-only" />
      <CardBody className="space-y-2">
        {earlier.map((revision) => (
          <Folded key={revision.id} title={`Revision ${revision.number}: ${summaryOf(revision.content)}`}>
            <div className="space-y-3">
              <p className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
                <Moment at={revision.createdAt} />
                <CopyableId id={revision.requestHash} what={`hash of revision ${revision.number}`} />
              </p>
              <Wording content={revision.content} />
            </div>
          </Folded>
        ))}
      </CardBody>
    </Card>
  );
}
