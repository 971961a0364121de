"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import type { Invitation } from "@/server/contract/members";
import { isAsHigh, type RoleName } from "./roles";

/** Pending invitations. */
export function InvitationList({ organizationId, role }: { organizationId: string; role: RoleName }) {
  const trpc = useTRPC();
  const { data: invitations } = useSuspenseQuery(
    trpc.organizations.invitations.queryOptions({ organizationId }),
  );
  return (
    <Card aria-labelledby="invitations-title" className="overflow-hidden">
      <CardHeader id="invitations-title" title="Invitations" hint="Pending" />
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
    </Card>
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
