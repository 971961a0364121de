"use client";
import { useRouter } from "next/navigation";
import { type ReactElement, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { LinesField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/data/trpc";
import { manifestHref } from "@/components/pins/list-state";

/** Parses pasted ids, separated by spaces, commas, quotes or lines, without duplicates. */
const idsOf = (text: string): string[] => [...new Set(text.split(/[\s,;"'[\]]+/).filter(Boolean))];

/** A dialog that binds receipts into a signed manifest. */
export function CreateManifest({
  projectId,
  receiptIds = [],
  trigger,
}: {
  projectId: string;
  /** The ids that are already selected; more can be pasted. */
  receiptIds?: string[];
  /** The button that opens it. */
  trigger: ReactElement;
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const [typed, setTyped] = useState<string | null>(null);
  const create = useAction(trpc.provenance.createManifest.mutationOptions(), {
    isInPlace: true,
    done: "Manifest created",
    onDone: ({ manifestId }) => router.push(manifestHref(projectId, manifestId)),
    refresh: [trpc.provenance.pathKey()],
  });
  const text = typed ?? receiptIds.join("\n");
  const ids = idsOf(text);
  return (
    <FormDialog
      title="Create manifest"
      description="A named set of receipts under one hash and one signature. A manifest cannot be changed."
      trigger={trigger}
      onOpenChange={() => setTyped(null)}
      action={create}
      send={(sent) =>
        create.mutate({
          projectId,
          label: sent.text("label"),
          receiptIds: ids,
          experimentHash: sent.given("experimentHash"),
        })
      }
      submit="Create manifest"
    >
      <TextField name="label" label="Label" required maxLength={255} />
      <LinesField
        name="receiptIds"
        label="Receipts"
        hint={
          ids.length === 0
            ? "Receipt ids of this project, one per line."
            : ids.length === 1
              ? "1 receipt."
              : `${ids.length.toLocaleString("en-US")} receipts.`
        }
        required
        value={text}
        spellCheck={false}
        placeholder="rcpt_…"
        className="max-h-48 font-mono text-xs"
        onChange={({ target }) => setTyped(target.value)}
      />
      <TextField
        name="experimentHash"
        label="Experiment hash"
        hint="Optional: a hash of your own code, data or plan, sealed with the receipts."
        maxLength={255}
        spellCheck={false}
        className="font-mono text-xs"
      />
    </FormDialog>
  );
}
