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

/** Ids as people paste them: between spaces, commas, quotes, lines; each once. */
export const idsOf = (text: string): string[] => [...new Set(text.split(/[\s,;"'[\]]+/).filter(Boolean))];

/** Binds receipts into a signed manifest, in a dialog; the only child opens it. */
export function CreateManifest({
  projectId,
  receiptIds = [],
  children,
}: {
  projectId: string;
  /** Already chosen; more may be pasted. */
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
        toast.success("The manifest is sealed");
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
      project_id: projectId,
      label: String(fields.get("label")).trim(),
      receiptIds: ids,
      experimentHash: String(fields.get("experimentHash")).trim() || undefined,
    });
  }

  return (
    <DialogContent
      title="Make a manifest"
      description="A named set of receipts under one hash and one signature. It cannot be changed afterwards."
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
              ? "Ids of receipts of this project, one on each line."
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
            Optional: what your own code, data or plan hashes to. It is sealed with the rest.
          </p>
        </div>
        <SubmitActions pending={create.isPending}>Seal the manifest</SubmitActions>
      </form>
    </DialogContent>
  );
}
