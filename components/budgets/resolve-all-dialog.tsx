"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogTrigger, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { HoldsResolved, ResolveHolds } from "@/server/contract/budgets";
import { dollars } from "./words";

/** Resolves all unconfirmed charges of a project alike, after showing how many they are. */
export function ResolveAllDialog({
  projectId,
  organizationId,
}: {
  projectId: string;
  organizationId: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>
        <Button size="sm">Resolve all</Button>
      </DialogTrigger>
      {isOpen && (
        <ResolveAllForm
          projectId={projectId}
          organizationId={organizationId}
          onClose={() => setOpen(false)}
        />
      )}
    </Dialog>
  );
}

function ResolveAllForm({
  projectId,
  organizationId,
  onClose,
}: {
  projectId: string;
  organizationId: string;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [outcome, setOutcome] = useState("not_charged");
  const [account, setAccount] = useState("all");
  const [note, setNote] = useState("");
  const [counted, setCounted] = useState<HoldsResolved | null>(null);
  const asked: Omit<ResolveHolds, "dryRun"> = {
    filter: {
      organizationId,
      projectId,
      ...(account === "all" ? {} : { billingMode: account as "managed" | "byok" }), // an item of the list below
    },
    outcome: outcome as ResolveHolds["outcome"], // likewise
    note,
  };
  const count = useMutation(
    trpc.budgets.resolveMany.mutationOptions({ onSuccess: setCounted, meta: { isShownInPlace: true } }),
  );
  const resolve = useMutation(
    trpc.budgets.resolveMany.mutationOptions({
      onSuccess: ({ resolved }) => {
        toast.success(`${resolved} resolved`);
        onClose();
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.budgets.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );
  const failed = count.error ?? resolve.error;
  /** What was counted is no longer what would be resolved. */
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    setCounted(null);
  };
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (counted) resolve.mutate({ ...asked, dryRun: false });
    else count.mutate({ ...asked, dryRun: true });
  }
  return (
    <DialogContent
      title="Resolve all charges"
      description="Every unconfirmed charge of this project that matches gets the same outcome. Sealed receipts do not change. This cannot be undone."
    >
      <form onSubmit={submit} className="space-y-4">
        {failed && (
          <Notice tone="bad" role="alert">
            {toFailure(failed).message}
          </Notice>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="space-y-1.5">
            <Label htmlFor="resolve-all-outcome">Outcome</Label>
            <Select value={outcome} onValueChange={change(setOutcome)}>
              <SelectTrigger id="resolve-all-outcome" />
              <SelectContent>
                <SelectItem value="not_charged">Not charged</SelectItem>
                <SelectItem value="charged">Charged in full</SelectItem>
              </SelectContent>
            </Select>
          </div>
          <div className="space-y-1.5">
            <Label htmlFor="resolve-all-account">Account</Label>
            <Select value={account} onValueChange={change(setAccount)}>
              <SelectTrigger id="resolve-all-account" />
              <SelectContent>
                <SelectItem value="all">All</SelectItem>
                <SelectItem value="managed">Managed</SelectItem>
                <SelectItem value="byok">Own connections</SelectItem>
              </SelectContent>
            </Select>
          </div>
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="resolve-all-note">Evidence</Label>
          <Input
            id="resolve-all-note"
            value={note}
            onChange={(event) => setNote(event.target.value)}
            required
            maxLength={1000}
            autoComplete="off"
          />
        </div>
        {counted && <Counted counted={counted} />}
        <SubmitActions pending={count.isPending || resolve.isPending}>
          {counted ? "Resolve charges" : "Preview"}
        </SubmitActions>
      </form>
    </DialogContent>
  );
}

function Counted({ counted }: { counted: HoldsResolved }) {
  const { resolved, refused, reservedMicros, chargedMicros, nextCursor } = counted;
  return (
    <Notice tone="warn" role="status">
      <p>
        {resolved} {resolved === 1 ? "charge" : "charges"} will be resolved. {dollars(reservedMicros)} is
        reserved for them; {dollars(chargedMicros)} will be charged.
        {nextCursor && " More follow: resolve again for the rest."}
      </p>
      {refused > 0 && <p>{refused} can be resolved so by an operator only.</p>}
    </Notice>
  );
}
