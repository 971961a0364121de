"use client";
import { useQuery } from "@tanstack/react-query";
import { PackageCheck } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogClose, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { useMutation } from "@/components/use-mutation";
import { Refusal } from "./refusal";
import type { ActProps } from "./use-act";
import { useActEnds } from "./use-act";

const MOST_SHOWN = 8;

/** Records the catalog capability that a paid request became. */
export function FulfilDialog({ dossier, onOutdated, isFirst }: ActProps & { isFirst: boolean }) {
  const trpc = useTRPC();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const ends = useActEnds({ done: "Capability recorded", onEnd: () => setOpen(false), onOutdated });
  const fulfil = useMutation(trpc.operator.fulfil.mutationOptions(ends));
  const { data: keys = [] } = useQuery({ ...trpc.projects.capabilities.queryOptions(), enabled: isOpen });
  const words = typed.trim().toLowerCase();
  const found = keys.filter((key) => key.toLowerCase().includes(words));
  const isKey = keys.includes(typed.trim());
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isKey) fulfil.mutate({ requestId: dossier.request.id, capabilityKey: typed.trim() });
  }
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>
        <Button variant={isFirst ? "primary" : "secondary"}>
          <PackageCheck aria-hidden /> Record capability
        </Button>
      </DialogTrigger>
      {isOpen && (
        <DialogContent
          title="Record shipped capability"
          description="The customer is notified that their capability is available, and has 7 days to ask for a refund. This cannot be undone."
        >
          <form onSubmit={submit} className="space-y-4">
            <Refusal error={fulfil.error} />
            <div className="space-y-1.5">
              <Label htmlFor={id}>Capability key</Label>
              <Input
                id={id}
                type="search"
                value={typed}
                maxLength={200}
                required
                autoComplete="off"
                spellCheck={false}
                aria-describedby={`${id}-found`}
                onChange={({ target }) => setTyped(target.value)}
              />
              <p id={`${id}-found`} role="status" className="text-xs text-muted">
                {isKey
                  ? "Found in the catalog."
                  : found.length === 1
                    ? "1 matching capability. Choose it."
                    : `${found.length} matching capabilities. Choose one.`}
              </p>
            </div>
            {!isKey && found.length > 0 && (
              <ul aria-label="Matching capabilities" className="space-y-0.5">
                {found.slice(0, MOST_SHOWN).map((key) => (
                  <li key={key}>
                    <button
                      type="button"
                      onClick={() => {
                        setTyped(key);
                        document.getElementById(id)?.focus(); // the list and this button disappear
                      }}
                      className="block w-full rounded px-2 py-1 text-left font-mono text-xs [overflow-wrap:anywhere] hover:bg-hover"
                    >
                      {key}
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <DialogActions>
              <DialogClose asChild>
                <Button>Cancel</Button>
              </DialogClose>
              <Button type="submit" variant="primary" pending={fulfil.isPending} disabled={!isKey}>
                Record capability
              </Button>
            </DialogActions>
          </form>
        </DialogContent>
      )}
    </Dialog>
  );
}
