"use client";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/data/trpc";

const LOOK_AGAIN_MS = 30_000;
const MOST = 99;

/** The number of waiting approvals, shown in the navigation; renders nothing at zero. */
export function WaitingCount({ projectId }: { projectId: string }) {
  const { data: count } = useQuery({
    ...useTRPC().approvals.count.queryOptions({ project_id: projectId }),
    refetchInterval: LOOK_AGAIN_MS,
  });
  if (!count) return null;
  return (
    <span className="ml-auto rounded-full bg-brass px-1.5 text-2xs leading-4.5 font-semibold text-on-held tabular-nums">
      {count > MOST ? `${MOST}+` : count}
      <span className="sr-only"> waiting</span>
    </span>
  );
}
