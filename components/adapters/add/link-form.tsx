"use client";
import { Search } from "lucide-react";
import { useState } from "react";
import { adapterHref } from "@/components/adapters/list-state";
import { useAction } from "@/components/blocks/data/use-action";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import type { ModelAdapter, Suggestion } from "@/server/contract/adapters";
import type { AddProps } from "./add-props";
import { LinkPreview } from "./link-preview";
import { SourceRefusal } from "./source-refusal";

/** Adds an adapter from a public link: looks it up without downloading weights, then registers what was shown. */
export function LinkForm(props: AddProps) {
  const { projectId, environment } = props;
  const trpc = useTRPC();
  const [text, setText] = useState("");
  const look = useAction(trpc.adapters.suggest.mutationOptions(), { isInPlace: true });
  return (
    <div className="space-y-4">
      <Form send={() => look.isPending || look.mutate({ projectId, environment, query: text.trim() })}>
        <TextField
          name="query"
          label="Link or name"
          hint="A Hugging Face URL or owner/name, a direct https link to a .safetensors file, or the name of a registered adapter."
          value={text}
          maxLength={2048}
          spellCheck={false}
          placeholder="https://huggingface.co/owner/name"
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" variant="primary" pending={look.isPending} disabled={text.trim() === ""}>
          {!look.isPending && <Search aria-hidden />}
          Look up
        </Button>
      </Form>
      <div aria-live="polite" aria-busy={look.isPending} className="empty:hidden">
        {look.isPending && (
          <div className="space-y-2.5">
            <Skeleton className="h-5 w-2/3" />
            <Skeleton className="h-5 w-1/2" />
            <p className="text-xs text-muted">Looking up the source. No weights are downloaded.</p>
          </div>
        )}
        {look.error && <SourceRefusal error={look.error} />}
        {look.data && !look.isPending && (
          <Found key={look.submittedAt} {...props} suggestion={look.data} query={look.variables.query} />
        )}
      </div>
    </div>
  );
}

function Found({ suggestion, query, ...props }: AddProps & { suggestion: Suggestion; query: string }) {
  const { resolution, preview, adapter, choices = [] } = suggestion;
  if (preview) return <LinkPreview {...props} query={query} preview={preview} />;
  if (adapter) return <Known projectId={props.projectId} adapters={[adapter]} />;
  if (resolution === "choice") return <Known projectId={props.projectId} adapters={choices} />;
  return (
    <Notice tone="warn" title="Nothing found">
      {props.environment} has no adapter or alias with this name, and it is not a supported link. Check the
      name or paste a link to the weights.
    </Notice>
  );
}

type Props = { projectId: string; adapters: Pick<ModelAdapter, "adapterId" | "displayName">[] };

function Known({ projectId, adapters }: Props) {
  return (
    <Notice
      tone="good"
      title={adapters.length === 1 ? "Already registered" : "Already registered as one of these"}
    >
      <ul className="mt-1 space-y-1">
        {adapters.map(({ adapterId, displayName }) => (
          <li key={adapterId}>
            <Link href={adapterHref(projectId, adapterId)} className="text-link underline">
              {displayName}
            </Link>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
