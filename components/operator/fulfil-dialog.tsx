"use client";
import { useQuery } from "@tanstack/react-query";
import { PackageCheck } from "lucide-react";
import { useRef, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import type { ActProps } from "./use-act";
import { isOutdated, useActEnds } from "./use-act";

const MOST_SHOWN = 8;

/** Records the catalog capability that a paid request became. */
export function FulfilDialog({ dossier, onOutdated, isFirst }: ActProps & { isFirst: boolean }) {
  const trpc = useTRPC();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const ends = useActEnds({ done: "Capability recorded", onOutdated });
  const fulfil = useAction(trpc.operator.fulfil.mutationOptions(ends), {});
  const { data: keys = [] } = useQuery(trpc.projects.capabilities.queryOptions());
  const words = typed.trim().toLowerCase();
  const found = keys.filter((key) => key.toLowerCase().includes(words));
  const isKey = keys.includes(typed.trim());
  return (
    <FormDialog
      title="Record shipped capability"
      description="The customer is notified that their capability is available, and has 7 days to ask for a refund. This cannot be undone."
      trigger={
        <Button variant={isFirst ? "primary" : "secondary"}>
          <PackageCheck aria-hidden /> Record capability
        </Button>
      }
      onOpenChange={() => setTyped("")}
      action={fulfil}
      hasEnded={isOutdated(fulfil.error)}
      send={() => isKey && fulfil.mutate({ requestId: dossier.request.id, capabilityKey: typed.trim() })}
      submit="Record capability"
      isReady={isKey}
    >
      <TextField
        ref={field}
        name="capabilityKey"
        label="Capability key"
        hint={
          <span role="status">
            {isKey
              ? "Found in the catalog."
              : found.length === 1
                ? "1 matching capability. Choose it."
                : `${found.length} matching capabilities. Choose one.`}
          </span>
        }
        type="search"
        value={typed}
        maxLength={200}
        required
        spellCheck={false}
        onChange={({ target }) => setTyped(target.value)}
      />
      {!isKey && found.length > 0 && (
        <ul aria-label="Matching capabilities" className="space-y-0.5">
          {found.slice(0, MOST_SHOWN).map((key) => (
            <li key={key}>
              <button
                type="button"
                onClick={() => {
                  setTyped(key);
                  field.current?.focus(); // the list and this button disappear
                }}
                className="block w-full rounded px-2 py-1 text-left font-mono text-xs [overflow-wrap:anywhere] hover:bg-hover"
              >
                {key}
              </button>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}
