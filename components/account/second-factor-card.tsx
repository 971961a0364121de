"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { FormFailure, useFailure } from "@/components/form-failure";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { useMutation } from "@/components/use-mutation";
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
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(trpc.account.pathFilter());
  const meta = { isShownInPlace: true };
  const renew = useMutation(
    trpc.account.renewRecoveryCodes.mutationOptions({
      meta,
      onSuccess({ recoveryCodes }) {
        onCodes(recoveryCodes);
        return refresh();
      },
    }),
  );
  const off = useMutation(
    trpc.account.turnOffSecondFactor.mutationOptions({
      meta,
      onSuccess() {
        onCodes(null);
        toast.success("Second factor turned off");
        return refresh();
      },
    }),
  );
  const { form, failure, problemOf } = useFailure(off.error ?? renew.error);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent; // React's type lacks the submitter
    const code = String(new FormData(event.currentTarget).get("code"));
    const [asked, other] = submitter?.id === "turn-off" ? [off, renew] : [renew, off];
    other.reset();
    asked.mutate({ code }, { onSuccess: () => form.current?.reset() });
  }

  return (
    <form ref={form} onSubmit={submit} className="space-y-4">
      <p>
        On since <Moment at={since} />.{" "}
        {recoveryCodesLeft === 1 ? "1 recovery code" : `${recoveryCodesLeft} recovery codes`} left.
      </p>
      <FormFailure failure={failure} />
      <CodeField hint="From your authenticator app, or a recovery code." problem={problemOf("code")} />
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
    </form>
  );
}
