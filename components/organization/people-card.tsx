"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import type { Member, RemovedMember } from "@/server/contract/members";
import { InvitationList } from "./invitation-list";
import { InviteDialog } from "./invite-dialog";
import { isAsHigh, ROLES, type RoleName } from "./roles";

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
      <Card aria-labelledby="members-title" className="overflow-hidden">
        <CardHeader
          id="members-title"
          title="Members"
          hint={members.length === 1 ? "1 member" : `${members.length} members`}
          actions={isAdmin && <InviteDialog organizationId={organizationId} role={role} />}
        />
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
      </Card>
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
          value={member.role}
          disabled={change.isPending}
          onValueChange={(next) => {
            const wanted = ROLES.find((each) => each === next);
            if (wanted) change.mutate({ organizationId, userId: member.userId, role: wanted });
          }}
        >
          <SelectTrigger aria-label={`Role of ${member.email}`} className="w-32 capitalize" />
          <SelectContent>
            {ROLES.filter((each) => isAsHigh(role, each)).map((each) => (
              <SelectItem key={each} value={each} className="capitalize">
                {each}
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
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
