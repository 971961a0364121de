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
import type { ActProps } from "./acts";
import { Refusal } from "./refusal";
import { useActEnds } from "./use-act";

const MOST_SHOWN = 8;

/** Records which capability of the catalog a paid request became. */
export function FulfilDialog({ dossier, onOutdated, isFirst }: ActProps & { isFirst: boolean }) {
  const trpc = useTRPC();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const ends = useActEnds({ done: "The capability is recorded", onEnd: () => setOpen(false), onOutdated });
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
          <PackageCheck aria-hidden />
          Record what shipped
        </Button>
      </DialogTrigger>
      {isOpen && (
        <DialogContent
          title="Record what shipped"
          description="The customer is told that their capability is there, and has 7 days to accept it. This cannot be undone."
        >
          <form onSubmit={submit} className="space-y-4">
            <Refusal error={fulfil.error} />
            <div className="space-y-1.5">
              <Label htmlFor={id}>Key of the capability</Label>
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
                  ? "In the catalog."
                  : found.length === 1
                    ? "1 capability fits. Choose it."
                    : `${found.length} capabilities fit. Choose one.`}
              </p>
            </div>
            {!isKey && found.length > 0 && (
              <ul aria-label="Capabilities that fit" className="space-y-0.5">
                {found.slice(0, MOST_SHOWN).map((key) => (
                  <li key={key}>
                    <button
                      type="button"
                      onClick={() => {
                        setTyped(key);
                        document.getElementById(id)?.focus(); // the list, and with it this button, goes away
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
                Record it
              </Button>
            </DialogActions>
          </form>
        </DialogContent>
      )}
    </Dialog>
  );
}
