"use client";
import type { FormEvent } from "react";
import { PlainTitle } from "@/components/shell/plain-page";
import { Moment } from "@/components/time/moment";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { WaitingDevice } from "@/server/contract/sessions";

/** A code is entered, what waits with it is shown, and only then somebody decides. */
export function DeviceApproval({ email, given }: { email: string; given: string }) {
  const trpc = useTRPC();
  const look = useMutation(trpc.account.lookAtDevice.mutationOptions({ meta: { isShownInPlace: true } }));
  if (look.data) return <Decision email={email} device={look.data} onBack={look.reset} />;
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    look.mutate({ userCode: String(new FormData(event.currentTarget).get("code") ?? "") });
  }
  return (
    <>
      <PlainTitle title="Sign a device in">Enter the code your device shows.</PlainTitle>
      <Card className="p-5">
        {look.error && (
          <Notice tone="bad" role="alert" className="mb-4">
            {sentencesOf(look.error)}
          </Notice>
        )}
        <form onSubmit={submit} className="space-y-4">
          <div className="space-y-1.5">
            <Label htmlFor="code">Code</Label>
            <Input
              id="code"
              name="code"
              required
              maxLength={40}
              defaultValue={given}
              placeholder="XXXX-XXXX"
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
              className="h-10 text-center font-mono text-base tracking-widest uppercase"
            />
          </div>
          <Button type="submit" variant="primary" size="lg" pending={look.isPending} className="w-full">
            Continue
          </Button>
        </form>
      </Card>
    </>
  );
}

function Decision({ email, device, onBack }: { email: string; device: WaitingDevice; onBack: () => void }) {
  const trpc = useTRPC();
  const decide = useMutation(trpc.account.decideDevice.mutationOptions({ meta: { isShownInPlace: true } }));
  const { userCode, clientName, address, createdAt } = device;
  if (decide.data)
    return decide.variables?.decision === "approved" ? (
      <PlainTitle title="The device is signed in">Go back to it. You can close this page.</PlainTitle>
    ) : (
      <PlainTitle title="The device was denied">It is not signed in. You can close this page.</PlainTitle>
    );
  return (
    <>
      <PlainTitle title="Let this device in?">It would act as {email}.</PlainTitle>
      <Card className="space-y-4 p-5">
        {decide.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(decide.error)}
          </Notice>
        )}
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
          <dt className="text-muted">It calls itself</dt>
          <dd className="break-words">{clientName}</dd>
          <dt className="text-muted">It asks from</dt>
          <dd className="break-all">{address || "an unknown address"}</dd>
          <dt className="text-muted">Since</dt>
          <dd>
            <Moment at={createdAt} />
          </dd>
          <dt className="text-muted">Code</dt>
          <dd className="font-mono">{userCode}</dd>
        </dl>
        <Notice tone="busy">
          Approve it only if you started this yourself, just now, and the device shows the same code.
        </Notice>
        <div className="grid gap-2">
          <Button
            variant="primary"
            size="lg"
            pending={decide.isPending && decide.variables?.decision === "approved"}
            disabled={decide.isPending}
            onClick={() => decide.mutate({ userCode, decision: "approved" })}
          >
            Approve
          </Button>
          <Button
            size="lg"
            pending={decide.isPending && decide.variables?.decision === "denied"}
            disabled={decide.isPending}
            onClick={() => decide.mutate({ userCode, decision: "denied" })}
          >
            Deny
          </Button>
          <Button variant="ghost" onClick={onBack} disabled={decide.isPending}>
            Enter another code
          </Button>
        </div>
      </Card>
    </>
  );
}
