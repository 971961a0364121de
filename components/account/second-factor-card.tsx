"use client";
import { useEffect, useRef, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Form } from "@/components/blocks/form/form";
import type { FormValues } from "@/components/blocks/form/form-values";
import { useTRPC } from "@/components/data/trpc";
import { Moment } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { CopyButton } from "@/components/ui/copy-button";
import { DownloadText } from "@/components/ui/download";
import { Notice } from "@/components/ui/notice";
import type { NewSecondFactor, OwnAccount } from "@/server/contract/sessions";
import { CodeField } from "./code-field";
import { PresenceField } from "./presence-field";

/** The second factor of an account: setup, recovery codes, and turning it off. */
export function SecondFactorCard({ account }: { account: OwnAccount }) {
  const [codes, setCodes] = useState<string[] | null>(null);
  const { since, recoveryCodesLeft } = account.secondFactor;
  return (
    <Section
      title="Second factor"
      hint={since ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}
      bodyClassName="space-y-5 text-sm"
    >
      {codes && <RecoveryCodes codes={codes} onKept={() => setCodes(null)} />}
      {since ? (
        <Upkeep since={since} recoveryCodesLeft={recoveryCodesLeft} onCodes={setCodes} />
      ) : (
        <SecondFactorSetup account={account} onCodes={setCodes} />
      )}
    </Section>
  );
}

/** Actions of an active second factor: new recovery codes, or turning it off. Both require a code. */
function Upkeep({
  since,
  recoveryCodesLeft,
  onCodes,
}: {
  since: string;
  recoveryCodesLeft: number;
  onCodes: (codes: string[] | null) => void;
}) {
  const trpc = useTRPC();
  const options = { refresh: [trpc.account.pathKey()], isInPlace: true };
  const renew = useAction(trpc.account.renewRecoveryCodes.mutationOptions(), {
    ...options,
    onDone: ({ recoveryCodes }) => onCodes(recoveryCodes),
  });
  const off = useAction(trpc.account.turnOffSecondFactor.mutationOptions(), {
    ...options,
    done: "Second factor turned off",
    onDone: () => onCodes(null),
  });
  const form = useRef<HTMLFormElement>(null);
  function send({ text }: FormValues, asked: string | undefined) {
    const [action, other] = asked === "turn-off" ? [off, renew] : [renew, off];
    other.reset();
    action.mutate({ code: text("code") }, { onSuccess: () => form.current?.reset() });
  }
  return (
    <Form
      ref={form}
      action={{ isPending: off.isPending || renew.isPending, error: off.error ?? renew.error }}
      send={send}
    >
      <p>
        On since <Moment at={since} />.{" "}
        {recoveryCodesLeft === 1 ? "1 recovery code" : `${recoveryCodesLeft} recovery codes`} left.
      </p>
      <CodeField hint="From your authenticator app, or a recovery code." />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" pending={renew.isPending} disabled={off.isPending}>
          Replace codes
        </Button>
        <Button
          id="turn-off"
          type="submit"
          variant="danger"
          pending={off.isPending}
          disabled={renew.isPending}
        >
          Turn off
        </Button>
      </div>
    </Form>
  );
}

const meta = { isShownInPlace: true };

/** Sets up a second factor: confirms the password of an account that has one, shows the secret, then asks for a code. */
function SecondFactorSetup({
  account,
  onCodes,
}: {
  account: OwnAccount;
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

/** New recovery codes. They are shown once. */
function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const text = codes.join("\n");
  const place = useRef<HTMLDivElement>(null);
  // The codes appear above the submitted form, so the focus moves up to them.
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1} className="rounded-lg">
      <Notice tone="warn" role="status" title="Save your recovery codes">
        <p>
          Each code signs you in once without your authenticator app. The codes won't be shown again, and
          older codes no longer work.
        </p>
        <ul
          aria-label="Recovery codes"
          className="my-3 grid gap-x-6 gap-y-1 font-mono text-[13px] min-[480px]:grid-cols-2"
        >
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={text} what="recovery codes" showLabel />
          <DownloadText name="capstan-recovery-codes.txt" text={text} what="recovery codes" />
          <Button size="sm" onClick={onKept}>
            Done
          </Button>
        </div>
      </Notice>
    </div>
  );
}
