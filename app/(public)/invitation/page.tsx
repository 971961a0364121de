import type { Metadata } from "next";
import { PanelData } from "@/components/data/panel-data";
import { InvitationPage } from "@/components/organization/invitation-page";
import { PlainPage } from "@/components/shell/plain-page";
import { findPerson } from "@/server/auth/session";

export const metadata: Metadata = { title: "Invitation", referrer: "no-referrer" };

/** The target of an invitation link. Its token follows #, so only the browser sees it. */
export default async function Invitation() {
  const person = await findPerson();
  return (
    <PanelData>
      <PlainPage>
        <InvitationPage signedInAs={person?.email ?? null} />
      </PlainPage>
    </PanelData>
  );
}
