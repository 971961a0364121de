import type { Metadata } from "next";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { requirePerson } from "@/server/auth/session";

export const metadata: Metadata = { title: "Signed in" };

/** For who signed in beside a page on which something is typed, and goes back to it. */
export default async function SignedInPage() {
  const { email } = await requirePerson("/signed-in");
  return (
    <PlainPage>
      <PlainTitle title="You are signed in">
        As {email}. Close this tab, and go on where you were: what you typed there is still on its page.
      </PlainTitle>
    </PlainPage>
  );
}
