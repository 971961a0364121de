import { LogIn } from "lucide-react";
import { Moment } from "@/components/time/moment";
import { Card, CardHeader } from "@/components/ui/card";
import type { Account } from "@/server/contract/sessions";

/** The identity providers that sign the reader in; nothing where none does. */
export function IdentityCard({ account: { identities } }: { account: Account }) {
  if (identities.length === 0) return null;
  return (
    <Card aria-labelledby="identities">
      <CardHeader id="identities" title="Connected sign-ins" hint="Each signs you in as this account" />
      <ul aria-labelledby="identities" className="divide-y divide-line">
        {identities.map(({ name, since }) => (
          <li key={`${name} ${since}`} className="flex items-start gap-3 px-4 py-3 text-sm">
            <LogIn aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
            <div className="min-w-0 space-y-1">
              <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
              <p className="text-xs text-muted">
                Since <Moment at={since} />
              </p>
            </div>
          </li>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-3 text-xs text-muted">
        An operator can take them away. If one is not yours, ask at once.
      </p>
    </Card>
  );
}
