"use client";
import { useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { toast } from "sonner";
import { z } from "zod";
import { toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogClose, DialogContent } from "@/components/ui/dialog";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ModelAdapter } from "@/server/contract/adapters";
import { adaptersHref, aliasHref, defaultsHref } from "./list-state";

const References = z.array(z.object({ kind: z.enum(["alias", "default", "binding"]), name: z.string() }));
type Reference = z.output<typeof References>[number];

/** Deletes an adapter, or links to what still uses it. */
export function DeleteAdapter({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  const { environment } = adapter;
  const remove = useMutation(
    trpc.adapters.remove.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: () => {
        toast.success("Adapter deleted");
        router.push(adaptersHref(projectId, { environment }));
        queryClient.invalidateQueries({ queryKey: trpc.adapters.list.pathKey() });
      },
    }),
  );
  const failure = remove.error ? toFailure(remove.error) : null;
  const references = References.safeParse(failure?.details.references).data ?? [];
  return (
    <>
      <Button onClick={() => setOpen(true)}>Delete</Button>
      <Dialog
        open={isOpen}
        onOpenChange={(open) => {
          setOpen(open);
          if (open) remove.reset();
        }}
      >
        <DialogContent
          title={`Delete “${adapter.displayName}”?`}
          description="Requests can no longer use it, and its name becomes available again. Existing receipts don't change."
        >
          {failure && (
            <Notice tone="bad" role="alert">
              <p>{failure.message}</p>
              {references.length > 0 && (
                <ul className="mt-1.5 list-disc pl-4">
                  {references.map((reference) => (
                    <li key={`${reference.kind} ${reference.name}`}>
                      <Link href={placeOf(projectId, environment, reference)} className="text-link underline">
                        {REFERENCE[reference.kind](reference.name)}
                      </Link>
                    </li>
                  ))}
                </ul>
              )}
            </Notice>
          )}
          <DialogActions>
            <DialogClose asChild>
              <Button>Cancel</Button>
            </DialogClose>
            {references.length === 0 && (
              <Button
                variant="danger"
                pending={remove.isPending}
                onClick={() => remove.mutate({ adapter_id: adapter.adapterId })}
              >
                Delete adapter
              </Button>
            )}
          </DialogActions>
        </DialogContent>
      </Dialog>
    </>
  );
}

const REFERENCE: Record<Reference["kind"], (name: string) => string> = {
  alias: (name) => `Alias “${name}” points to it`,
  default: (name) => `Default for ${name}`,
  binding: (name) => `The recipe is pinned to a version of “${name}” that uses it`,
};

const placeOf = (projectId: string, environment: string, { kind, name }: Reference): string =>
  kind === "default" ? defaultsHref(projectId, environment) : aliasHref(projectId, name, { environment });
