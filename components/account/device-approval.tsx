"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { Form } from "@/components/blocks/form/form";
import { TextField } from "@/components/blocks/form/text-field";
import { useTRPC } from "@/components/data/trpc";
import { PlainTitle } from "@/components/shell/plain-page";
import { Moment } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import type { WaitingDevice } from "@/server/contract/sessions";

/** Takes a device code, shows the device, and lets the reader approve or deny it. */
export function DeviceApproval({ email, given }: { email: string; given: string }) {
  const trpc = useTRPC();
  const look = useAction(trpc.account.lookAtDevice.mutationOptions(), { isInPlace: true });
  if (look.data) return <Decision email={email} device={look.data} onBack={look.reset} />;
  return (
    <>
      <PlainTitle title="Sign in a device">Enter the code shown on your device.</PlainTitle>
      <Card className="p-5">
        <Form action={look} send={(sent) => look.mutate({ userCode: sent.text("userCode") })}>
          <TextField
            name="userCode"
            label="Code"
            required
            maxLength={40}
            defaultValue={given}
            placeholder="XXXX-XXXX"
            autoCapitalize="characters"
            spellCheck={false}
            className="h-10 text-center font-mono text-base tracking-widest uppercase"
          />
          <Button type="submit" variant="primary" size="lg" pending={look.isPending} className="w-full">
            Continue
          </Button>
        </Form>
      </Card>
    </>
  );
}

function Decision({ email, device, onBack }: { email: string; device: WaitingDevice; onBack: () => void }) {
  const trpc = useTRPC();
  const decide = useAction(trpc.account.decideDevice.mutationOptions(), { isInPlace: true });
  const { userCode, clientName, address, createdAt } = device;
  if (decide.data)
    return decide.variables?.decision === "approved" ? (
      <PlainTitle title="Device signed in">Return to your device. You can close this page.</PlainTitle>
    ) : (
      <PlainTitle title="Sign-in denied">The device was not signed in. You can close this page.</PlainTitle>
    );
  return (
    <>
      <PlainTitle title="Approve this device?">It will be signed in as {email}.</PlainTitle>
      <Card className="space-y-4 p-5">
        <Refusal error={decide.error} />
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
          <dt className="text-muted">Device</dt>
          <dd className="break-words">{clientName}</dd>
          <dt className="text-muted">IP address</dt>
          <dd className="break-all">{address || "Unknown"}</dd>
          <dt className="text-muted">Requested</dt>
          <dd>
            <Moment at={createdAt} />
          </dd>
          <dt className="text-muted">Code</dt>
          <dd className="font-mono">{userCode}</dd>
        </dl>
        <Notice tone="busy">
          Approve only if you just started this sign-in yourself and the device shows the same code.
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
            Change code
          </Button>
        </div>
      </Card>
    </>
  );
}
