"use client";
import { useState } from "react";
import { FamilySelect } from "@/components/adapters/family-select";
import { SOURCE_KIND } from "@/components/adapters/words";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { useAction, useActionPerInput } from "@/components/blocks/data/use-action";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import type { SourcePreview } from "@/server/contract/adapters";
import type { AddProps } from "./add-props";
import { SourceRefusal } from "./source-refusal";

/** The target of a link: its files, the known facts, and the facts still needed to register it. */
export function LinkPreview({
  projectId,
  environment,
  onAdded,
  query,
  preview: first,
}: AddProps & { query: string; preview: SourcePreview }) {
  const trpc = useTRPC();
  const [file, setFile] = useState(first.selectedFile);
  const [family, setFamily] = useState("");
  const look = useActionPerInput(trpc.adapters.preview.mutationOptions(), { isInPlace: true });
  const options = { meta: { isShownInPlace: true } };
  const accept = useAction(trpc.adapters.accept.mutationOptions({ ...options }), {
    onDone: ({ adapter, resolution }) => {
      if (adapter)
        onAdded(adapter, resolution === "registered" ? "Adapter registered" : "Already registered");
    },
  });
  const register = useAction(trpc.adapters.register.mutationOptions({ ...options }), {
    onDone: (adapter) => onAdded(adapter, "Adapter registered as catalog-only"),
  });
  // A source with several files has details only after one of the files is looked up.
  const preview = look.data ?? first;
  const knownFamily = preview.baseModelFamily ?? family;
  const isReady = file !== null && knownFamily !== "" && !look.isPending;

  function choose(path: string) {
    setFile(path);
    accept.reset();
    if (first.kind === "huggingface") look.mutate({ projectId, query: exactly(first, path) });
  }

  return (
    <section aria-label="Link preview" className="space-y-4 border-t border-line pt-4">
      <Facts>
        <Fact name="Source">{SOURCE_KIND[first.kind]}</Fact>
        <Fact name="Reference">{first.ref}</Fact>
        <Fact name="Commit">{first.revision && <CopyableId id={first.revision} what="commit" />}</Fact>
        <Fact name="Name">{preview.displayName}</Fact>
        <Fact name="Trigger words">
          {preview.triggerWords.length > 0 ? preview.triggerWords.join(", ") : null}
        </Fact>
        <Fact name="Strength">{preview.recommendedWeight}</Fact>
        <Fact name="License">{preview.licenseName ?? "Not stated"}</Fact>
      </Facts>
      {first.files.length > 0 && <Files files={first.files} chosen={file} onChoose={choose} />}
      {preview.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {look.error && <SourceRefusal error={look.error} />}
      {preview.baseModelFamily === null ? (
        file !== null && (
          <FamilySelect
            id="link-family"
            value={family}
            onChange={setFamily}
            hint="The source does not clearly state the base model. Its web page usually does."
          />
        )
      ) : (
        <Facts>
          <Fact name="Base model">{preview.baseModelFamily}</Fact>
        </Facts>
      )}
      {accept.error && <SourceRefusal error={accept.error} />}
      {register.error && <SourceRefusal error={register.error} />}
      {accept.data && !accept.data.adapter && (
        <Notice tone="warn" title="Not registered">
          <p>
            The file behind this link can change, so requests can't use it. You can register it as
            catalog-only, for reference.
          </p>
          <Button
            size="sm"
            className="mt-2"
            pending={register.isPending}
            onClick={() =>
              register.mutate({
                projectId,
                environment,
                displayName: preview.displayName ?? first.ref.slice(-255),
                source: { kind: first.kind, ref: first.ref },
                baseModelFamily: knownFamily,
              })
            }
          >
            Register as catalog-only
          </Button>
        </Notice>
      )}
      <Button
        variant="primary"
        size="lg"
        pending={accept.isPending}
        disabled={!isReady}
        onClick={() =>
          file !== null &&
          accept.mutate({
            projectId,
            environment,
            // The commit that was shown, even if its branch has moved.
            query: first.kind === "huggingface" ? exactly(first, file) : query,
            filePath: file,
            baseModelFamily: knownFamily,
          })
        }
      >
        Register
      </Button>
      {!isReady && !look.isPending && (
        <p className="text-xs text-muted">
          {file === null ? "Choose a file first." : "Choose a base model first."}
        </p>
      )}
    </section>
  );
}

/** The query that names one file at one commit. */
function exactly({ ref, revision }: SourcePreview, path: string): string {
  return `hf:${ref}@${revision ?? "main"}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

type Props = { files: SourcePreview["files"]; chosen: string | null; onChoose(path: string): void };

function Files({ files, chosen, onChoose }: Props) {
  return (
    <fieldset className="space-y-1.5">
      <legend className="text-sm font-medium">
        {files.length === 1 ? "File" : `Choose one of ${files.length} files`}
      </legend>
      <div className="max-h-64 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {files.map(({ path, byteLength }) => (
          <label
            key={path}
            className="flex items-center gap-2 px-3 py-2 text-sm hover:bg-hover has-checked:bg-busy-soft"
          >
            <input
              type="radio"
              name="file"
              checked={path === chosen}
              onChange={() => onChoose(path)}
              className="size-4 accent-primary"
            />
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{path}</span>
            <span className="shrink-0 text-xs text-muted tabular-nums">
              {byteLength === null ? "size unknown" : formatBytes(byteLength)}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
