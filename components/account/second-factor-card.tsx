"use client";
import { useRef, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Form } from "@/components/blocks/form/form";
import type { Sent } from "@/components/blocks/form/sent";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import type { Account } from "@/server/contract/sessions";
import { CodeField } from "./code-field";
import { RecoveryCodes } from "./recovery-codes";
import { SecondFactorSetup } from "./second-factor-setup";

/** The second factor of an account: setup, recovery codes, and turning it off. */
export function SecondFactorCard({ account }: { account: Account }) {
  const [codes, setCodes] = useState<string[] | null>(null);
  const { since, recoveryCodesLeft } = account.secondFactor;
  return (
    <Card aria-labelledby="second-factor">
      <CardHeader
        id="second-factor"
        title="Second factor"
        hint={since ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}
      />
      <CardBody className="space-y-5 text-sm">
        {codes && <RecoveryCodes codes={codes} onKept={() => setCodes(null)} />}
        {since ? (
          <Upkeep since={since} recoveryCodesLeft={recoveryCodesLeft} onCodes={setCodes} />
        ) : (
          <SecondFactorSetup account={account} onCodes={setCodes} />
        )}
      </CardBody>
    </Card>
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
  function send({ text }: Sent, asked: string | undefined) {
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
