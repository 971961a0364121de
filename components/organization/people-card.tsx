"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Select } from "@/components/ui/select";
import { toast } from "@/components/ui/toaster";
import type { Invitation, Member, RemovedMember } from "@/server/contract/members";
import { isAsHigh, MEANING, ROLES, type RoleName } from "./roles";

/** The members of an organization and, for admins, pending invitations. */
export function PeopleCard({ organizationId, role }: { organizationId: string; role: RoleName }) {
  const trpc = useTRPC();
  const { data: members } = useSuspenseQuery(trpc.organizations.members.queryOptions({ organizationId }));
  const [removed, setRemoved] = useState<RemovedMember | null>(null);
  const isAdmin = isAsHigh(role, "admin");
  const owners = members.filter((member) => member.role === "owner").length;
  return (
    <div className="grid grid-cols-1 gap-5">
      {removed && removed.keys.length > 0 && (
        <Notice tone="warn" role="status">
          {removed.email} was removed. Keys they created still work:{" "}
          {removed.keys.map(({ name }) => name).join(", ")}. Rotate or revoke them if needed.
        </Notice>
      )}
      <Section
        id="members-title"
        title="Members"
        hint={members.length === 1 ? "1 member" : `${members.length} members`}
        actions={isAdmin && <InviteDialog organizationId={organizationId} role={role} />}
        isFlush
      >
        <ul aria-labelledby="members-title" className="divide-y divide-line">
          {members.map((member) => (
            <MemberRow
              key={member.userId}
              organizationId={organizationId}
              member={member}
              role={role}
              isLastOwner={member.role === "owner" && owners === 1}
              onRemoved={setRemoved}
            />
          ))}
        </ul>
      </Section>
      {isAdmin && <InvitationList organizationId={organizationId} role={role} />}
    </div>
  );
}

function MemberRow({
  organizationId,
  member,
  role,
  isLastOwner,
  onRemoved,
}: {
  organizationId: string;
  member: Member;
  role: RoleName;
  isLastOwner: boolean;
  onRemoved: (removed: RemovedMember) => void;
}) {
  const trpc = useTRPC();
  const refresh = [trpc.organizations.pathKey(), trpc.projects.pathKey()];
  const change = useAction(trpc.organizations.changeRole.mutationOptions(), {
    done: (_, { role }) => `${member.email} is now ${role}`,
    refresh,
  });
  const remove = useAction(trpc.organizations.removeMember.mutationOptions(), {
    onDone: (removed) => {
      if (member.isYou) return window.location.assign("/"); // a full page load, so that no data stays in memory
      toast.success(`${member.email} removed`);
      onRemoved(removed);
    },
    refresh: member.isYou ? [] : refresh,
  });
  const mayChange = isAsHigh(role, "admin") && isAsHigh(role, member.role) && !isLastOwner;
  const mayRemove = (mayChange || member.isYou) && !isLastOwner;
  const name = member.isYou ? "yourself" : member.email;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3" data-member={member.email}>
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-2 text-sm font-medium">
          <span dir="auto" className="[overflow-wrap:anywhere]">
            {member.displayName}
          </span>
          {member.isYou && <Badge>You</Badge>}
        </div>
        <div className="text-xs text-muted [overflow-wrap:anywhere]">
          {member.email} · joined <Ago at={member.joinedAt} />
          {member.activeKeys > 0 && ` · ${member.activeKeys === 1 ? "1 key" : `${member.activeKeys} keys`}`}
        </div>
      </div>
      {mayChange ? (
        <Select
          aria-label={`Role of ${member.email}`}
          className="w-32 capitalize"
          value={member.role}
          disabled={change.isPending}
          options={toOptions(ROLES.filter((each) => isAsHigh(role, each)))}
          onValueChange={(next) => {
            const wanted = ROLES.find((each) => each === next);
            if (wanted) change.mutate({ organizationId, userId: member.userId, role: wanted });
          }}
        />
      ) : (
        <Badge className="capitalize">{member.role}</Badge>
      )}
      {mayRemove && (
        <ConfirmAction
          label={member.isYou ? "Leave" : "Remove"}
          title={member.isYou ? "Leave the organization?" : `Remove ${member.email}?`}
          description={
            member.isYou
              ? "You lose all access immediately. Keys you created keep working."
              : "They lose all access immediately. Keys they created keep working, and you will see which ones."
          }
          action={member.isYou ? "Leave organization" : "Remove member"}
          onConfirm={() => remove.mutate({ organizationId, userId: member.userId })}
          size="sm"
          className="min-w-17"
          pending={remove.isPending}
          aria-label={member.isYou ? "Leave" : `Remove ${name}`}
        />
      )}
    </li>
  );
}

/** Pending invitations. */
function InvitationList({ organizationId, role }: { organizationId: string; role: RoleName }) {
  const trpc = useTRPC();
  const { data: invitations } = useSuspenseQuery(
    trpc.organizations.invitations.queryOptions({ organizationId }),
  );
  return (
    <Section id="invitations-title" title="Invitations" hint="Pending" isFlush>
      {invitations.length === 0 ? (
        <p className="px-4 py-8 text-center text-sm text-muted">No pending invitations.</p>
      ) : (
        <ul aria-labelledby="invitations-title" className="divide-y divide-line">
          {invitations.map((invitation) => (
            <Row
              key={invitation.invitationId}
              invitation={invitation}
              mayChange={isAsHigh(role, invitation.role)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Row({ invitation, mayChange }: { invitation: Invitation; mayChange: boolean }) {
  const trpc = useTRPC();
  const { invitationId, email } = invitation;
  const refresh = [trpc.organizations.pathKey()];
  const resend = useAction(trpc.organizations.resendInvitation.mutationOptions(), {
    refresh,
    done: `New link sent to ${email}`,
  });
  const withdraw = useAction(trpc.organizations.withdrawInvitation.mutationOptions(), {
    refresh,
    done: "Invitation withdrawn",
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3" data-invitation={email}>
      <div className="min-w-0 flex-1 basis-56">
        <div className="text-sm font-medium [overflow-wrap:anywhere]">{email}</div>
        <div className="text-xs text-muted [overflow-wrap:anywhere]">
          {invitation.isExpired ? "Expired " : "Expires "}
          <Ago at={invitation.expiresAt} /> · sent by {invitation.invitedBy}
        </div>
      </div>
      <div className="flex gap-2">
        {invitation.isExpired && <Badge tone="warn">Expired</Badge>}
        <Badge className="capitalize">{invitation.role}</Badge>
      </div>
      {mayChange && (
        <div className="flex gap-2">
          <Button
            size="sm"
            pending={resend.isPending}
            aria-label={`Resend to ${email}`}
            onClick={() => resend.mutate({ invitationId })}
          >
            {" "}
            Resend
          </Button>
          <ConfirmAction
            label="Withdraw"
            title={`Withdraw the invitation for ${email}?`}
            description="The link will stop working."
            action="Withdraw invitation"
            onConfirm={() => withdraw.mutate({ invitationId })}
            size="sm"
            pending={withdraw.isPending}
            aria-label={`Withdraw the invitation for ${email}`}
          />
        </div>
      )}
    </li>
  );
}

/** Invites an email address. Only the email contains the link. */
function InviteDialog({ organizationId, role }: { organizationId: string; role: RoleName }) {
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
