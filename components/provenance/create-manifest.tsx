"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type FormEvent, type ReactNode, useState } from "react";
import { toast } from "sonner";
import { manifestHref } from "@/components/pins/list-state";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Dialog, DialogContent, DialogTrigger, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Textarea } from "@/components/ui/textarea";
import { useMutation } from "@/components/use-mutation";

/** Parses pasted ids, separated by spaces, commas, quotes or lines, without duplicates. */
export const idsOf = (text: string): string[] => [...new Set(text.split(/[\s,;"'[\]]+/).filter(Boolean))];

/** A dialog that binds receipts into a signed manifest. The only child opens it. */
export function CreateManifest({
  projectId,
  receiptIds = [],
  children,
}: {
  projectId: string;
  /** Already selected; more can be pasted. */
  receiptIds?: string[];
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>{children}</DialogTrigger>
      {isOpen && <ManifestForm projectId={projectId} receiptIds={receiptIds} />}
    </Dialog>
  );
}

function ManifestForm({ projectId, receiptIds }: { projectId: string; receiptIds: string[] }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [text, setText] = useState(() => receiptIds.join("\n"));
  const create = useMutation(
    trpc.provenance.createManifest.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess: ({ manifestId }) => {
        toast.success("Manifest created");
        router.push(manifestHref(projectId, manifestId));
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.provenance.pathKey() }),
    }),
  );
  const ids = idsOf(text);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    create.mutate({
      projectId,
      label: String(fields.get("label")).trim(),
      receiptIds: ids,
      experimentHash: String(fields.get("experimentHash")).trim() || undefined,
    });
  }

  return (
    <DialogContent
      title="Create manifest"
      description="A named set of receipts under one hash and one signature. A manifest cannot be changed."
    >
      <form onSubmit={submit} className="space-y-4">
        {create.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(create.error)}
          </Notice>
        )}
        <div className="space-y-1.5">
          <Label htmlFor="manifest-label">Label</Label>
          <Input id="manifest-label" name="label" required maxLength={255} autoComplete="off" />
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="manifest-receipts">Receipts</Label>
          <Textarea
            id="manifest-receipts"
            required
            value={text}
            spellCheck={false}
            placeholder="rcpt_…"
            aria-describedby="manifest-receipts-help"
            className="max-h-48 font-mono text-xs"
            onChange={({ target }) => setText(target.value)}
          />
          <p id="manifest-receipts-help" className="text-xs text-muted">
            {ids.length === 0
              ? "Receipt ids of this project, one per line."
              : ids.length === 1
                ? "1 receipt."
                : `${ids.length.toLocaleString("en-US")} receipts.`}
          </p>
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="manifest-experiment">Experiment hash</Label>
          <Input
            id="manifest-experiment"
            name="experimentHash"
            maxLength={255}
            autoComplete="off"
            spellCheck={false}
            className="font-mono text-xs"
            aria-describedby="manifest-experiment-help"
          />
          <p id="manifest-experiment-help" className="text-xs text-muted">
            Optional: a hash of your own code, data or plan, sealed with the receipts.
          </p>
        </div>
        <SubmitActions pending={create.isPending}>Create manifest</SubmitActions>
      </form>
    </DialogContent>
  );
}
