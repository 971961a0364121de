import type { Metadata } from "next";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { requirePerson } from "@/server/auth/session";

export const metadata: Metadata = { title: "Signed in" };

/** For a reader who signed in in a second tab to keep unsaved input in the first. */
export default async function SignedInPage() {
  const { email } = await requirePerson("/signed-in");
  return (
    <PlainPage>
      <PlainTitle title="You're signed in">
        You're signed in as {email}. Close this tab and return to the previous one. Your changes are still
        there.
      </PlainTitle>
    </PlainPage>
  );
}
