"use client";
import { useQueryClient } from "@tanstack/react-query";
import { LogIn } from "lucide-react";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { FormFailure, useFailure } from "@/components/form-failure";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import { Dialog, DialogActions, DialogClose, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { useMutation } from "@/components/use-mutation";
import type { Account, LinkedIdentity } from "@/server/contract/sessions";
import { PresenceField } from "./presence-field";

/** The identity providers that can sign the reader in; renders nothing when there are none. */
export function IdentityCard({ account }: { account: Account }) {
  const { identities } = account;
  if (identities.length === 0) return null;
  return (
    <Card aria-labelledby="identities">
      <CardHeader id="identities" title="Identity providers" hint="Each one signs you in to this account" />
      <ul aria-labelledby="identities" className="divide-y divide-line">
        {identities.map((identity) => (
          <li key={identity.issuer} className="flex flex-wrap items-start gap-3 px-4 py-3 text-sm">
            <LogIn aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
            <div className="min-w-0 flex-1 basis-40 space-y-1">
              <p className="font-medium [overflow-wrap:anywhere]">{identity.name}</p>
              <p className="text-xs text-muted">
                Connected <Moment at={identity.since} />
                {!identity.isSpare && ". This is your only way to sign in, so it cannot be disconnected."}
              </p>
            </div>
            {identity.isSpare && <Disconnect account={account} identity={identity} />}
          </li>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-3 text-xs text-muted">
        If you don't recognize one, disconnect it and contact your operator.
      </p>
    </Card>
  );
}

function Disconnect({ account, identity: { issuer, name } }: { account: Account; identity: LinkedIdentity }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const unlink = useMutation(
    trpc.account.unlinkIdentity.mutationOptions({
      meta: { isShownInPlace: true },
      onSuccess() {
        setOpen(false);
        toast.success(`${name} disconnected. Your other sessions have ended.`);
        return queryClient.invalidateQueries(trpc.account.pathFilter());
      },
    }),
  );
  const { form, failure, problemOf } = useFailure(unlink.error);

  function show(open: boolean) {
    unlink.reset();
    setOpen(open);
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get("password");
    unlink.mutate(password === null ? { issuer } : { issuer, password: String(password) });
  }

  return (
    <Dialog open={isOpen} onOpenChange={show}>
      <DialogTrigger asChild>
        <Button size="sm" aria-label={`Disconnect ${name}`}>
          Disconnect
        </Button>
      </DialogTrigger>
      {isOpen && (
        <DialogContent
          title={`Disconnect ${name}?`}
          description={`You can no longer sign in with ${name}, and your other sessions end. To connect it again, sign in with ${name} as ${account.email}.`}
        >
          <form ref={form} onSubmit={submit} className="space-y-4">
            <FormFailure failure={failure} />
            <PresenceField id="disconnect-password" account={account} problem={problemOf("password")} />
            <DialogActions>
              <DialogClose asChild>
                <Button>Cancel</Button>
              </DialogClose>
              <Button type="submit" variant="danger" pending={unlink.isPending}>
                Disconnect
              </Button>
            </DialogActions>
          </form>
        </DialogContent>
      )}
    </Dialog>
  );
}
