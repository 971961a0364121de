"use client";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/data/trpc";
import { CopyButton } from "@/components/ui/copy-button";
import { callerName } from "./caller-name";

const KNOWN_MS = 5 * 60_000;

type Props = {
  projectId: string;
  id: string;
  kind?: string | null | undefined;
  /** The name, if it is already loaded. */
  name?: string | undefined;
  /** Leaves out the copy button, for table rows. */
  isPlain?: boolean;
};

/** A caller known only by id. Loads and shows the name, with the id to copy. */
export function Caller({ projectId, id, kind, name, isPlain = false }: Props) {
  const { data, isLoading } = useQuery({
    ...useTRPC().projects.caller.queryOptions({ project_id: projectId, principal_id: id }),
    staleTime: KNOWN_MS,
    retry: false,
    enabled: name === undefined,
    meta: { isShownInPlace: true },
  });
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-0.5">
      <span dir="auto" className="min-w-0 [overflow-wrap:anywhere]" title={id} data-caller={id}>
        {isLoading ? (
          <span aria-hidden className="skeleton inline-block h-3.5 w-24 rounded bg-hover align-middle" />
        ) : (
          callerName({ id, kind, name: name ?? data?.name ?? null })
        )}
      </span>
      {!isPlain && <CopyButton text={id} what="caller's id" className="-my-1" />}
    </span>
  );
}
