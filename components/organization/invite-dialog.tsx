"use client";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { isAsHigh, MEANING, ROLES, type RoleName } from "./roles";

/** Invites an email address. Only the email contains the link. */
export function InviteDialog({ organizationId, role }: { organizationId: string; role: RoleName }) {
  const trpc = useTRPC();
  const [offered, setOffered] = useState<RoleName>("member");
  const invite = useAction(trpc.organizations.invite.mutationOptions(), {
    done: ({ email }) => `Invitation sent to ${email}`,
    refresh: [trpc.organizations.pathKey()],
    isInPlace: true,
  });
  return (
    <FormDialog
      title="Invite member"
      description="They receive an email with a link that works once, only for this address, for seven days."
      trigger={
        <Button variant="primary" size="sm">
          <UserPlus aria-hidden /> Invite member
        </Button>
      }
      action={invite}
      send={(sent) => invite.mutate({ organizationId, email: sent.text("email"), role: offered })}
      submit="Send invitation"
    >
      <TextField name="email" label="Email" type="email" required maxLength={254} />
      <ChoiceField
        name="role"
        label="Role"
        hint={`${MEANING[offered]}.`}
        value={offered}
        onValueChange={(next) => setOffered(oneOfOr("member", ROLES)(next))}
        options={toOptions(ROLES.filter((each) => isAsHigh(role, each)))}
      />
    </FormDialog>
  );
}
