"use client";
import { LogIn } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
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
  const unlink = useAction(trpc.account.unlinkIdentity.mutationOptions(), {
    isInPlace: true,
    done: `${name} disconnected. Your other sessions have ended.`,
    refresh: [trpc.account.pathKey()],
  });
  return (
    <FormDialog
      title={`Disconnect ${name}?`}
      description={`You can no longer sign in with ${name}, and your other sessions end. To connect it again, sign in with ${name} as ${account.email}.`}
      trigger={
        <Button size="sm" aria-label={`Disconnect ${name}`}>
          Disconnect
        </Button>
      }
      action={unlink}
      send={(sent) =>
        unlink.mutate({ issuer, ...(sent.has("password") && { password: sent.raw("password") }) })
      }
      submit="Disconnect"
      tone="danger"
    >
      <PresenceField account={account} />
    </FormDialog>
  );
}
