"use client";
import { useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogTrigger, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import { isAsHigh, MEANING, ROLES, type RoleName } from "./roles";

/** Invites an email address. Only the email contains the link. */
export function InviteDialog({ organizationId, role }: { organizationId: string; role: RoleName }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [offered, setOffered] = useState<RoleName>("member");
  const invite = useMutation(
    trpc.organizations.invite.mutationOptions({
      onSuccess: ({ email }) => {
        toast.success(`Invitation sent to ${email}`);
        setOpen(false);
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.organizations.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get("email"));
    invite.mutate({ organizationId, email, role: offered });
  }
  return (
    <Dialog
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next);
        invite.reset();
      }}
    >
      <DialogTrigger asChild>
        <Button variant="primary" size="sm">
          <UserPlus aria-hidden /> Invite member
        </Button>
      </DialogTrigger>
      <DialogContent
        title="Invite member"
        description="They receive an email with a link that works once, only for this address, for seven days."
      >
        <form onSubmit={submit} className="space-y-4">
          {invite.error && (
            <Notice tone="bad" role="alert">
              {sentencesOf(invite.error)}
            </Notice>
          )}
          <div className="space-y-1.5">
            <Label htmlFor="invite-email">Email</Label>
            <Input id="invite-email" name="email" type="email" required maxLength={254} autoComplete="off" />
          </div>
          <div className="grid gap-1.5">
            <Label htmlFor="invite-role">Role</Label>
            <Select
              value={offered}
              onValueChange={(next) => setOffered(ROLES.find((each) => each === next) ?? "member")}
            >
              <SelectTrigger id="invite-role" />
              <SelectContent>
                {ROLES.filter((each) => isAsHigh(role, each)).map((each) => (
                  <SelectItem key={each} value={each}>
                    {each}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
            <p className="text-xs text-muted">{MEANING[offered]}.</p>
          </div>
          <SubmitActions pending={invite.isPending}>Send invitation</SubmitActions>
        </form>
      </DialogContent>
    </Dialog>
  );
}
