"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { Form } from "@/components/blocks/form/form";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import type { Account, NewSecondFactor } from "@/server/contract/sessions";
import { CodeField } from "./code-field";
import { PresenceField } from "./presence-field";

const meta = { isShownInPlace: true };

/** Sets up a second factor: confirms the password, shows the secret, then asks for a code. */
export function SecondFactorSetup({
  account,
  onCodes,
}: {
  account: Account;
  onCodes: (codes: string[]) => void;
}) {
  const trpc = useTRPC();
  const start = useAction(trpc.account.startSecondFactor.mutationOptions({ meta }), {});
  if (start.data) return <Confirmation made={start.data} onCodes={onCodes} />;

  return (
    <Form
      action={start}
      send={(sent) => start.mutate(sent.has("password") ? { password: sent.raw("password") } : {})}
    >
      <p>
        Signing in will also require a code from an authenticator app, so a stolen password is not enough.
        Turning this on ends your other sessions.
      </p>
      <PresenceField account={account} />
      <Button type="submit" pending={start.isPending}>
        Set up
      </Button>
    </Form>
  );
}

function Confirmation({ made, onCodes }: { made: NewSecondFactor; onCodes: (codes: string[]) => void }) {
  const trpc = useTRPC();
  const confirm = useAction(trpc.account.confirmSecondFactor.mutationOptions({ meta }), {
    onDone: ({ recoveryCodes }) => onCodes(recoveryCodes),
    refresh: [trpc.account.pathKey()],
  });

  return (
    <Form action={confirm} send={(sent) => confirm.mutate({ code: sent.text("code") })}>
      <p>
        Scan this with an authenticator app, or enter the key manually. Then enter the code the app shows.
      </p>
      {/* biome-ignore lint/performance/noImgElement: an inline image, with nothing to load */}
      <img
        alt="QR code for the key below"
        src={`data:image/svg+xml,${encodeURIComponent(made.qrCode)}`}
        className="size-48 rounded-md border border-line bg-white"
      />
      <p className="flex flex-wrap items-center gap-2">
        <code className="[overflow-wrap:anywhere]" data-testid="second-factor-secret">
          {made.secret.match(/.{1,4}/g)?.join(" ")}
        </code>
        <CopyButton text={made.secret} what="the key" />
      </p>
      <CodeField hint="Six digits that change every 30 seconds." />
      <Button type="submit" variant="primary" pending={confirm.isPending}>
        Turn on
      </Button>
    </Form>
  );
}
