import { SignInElsewise } from "@/components/commissions/sign-in-elsewise";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { findPerson } from "@/server/auth/session";

/** The same page for a quote that does not exist and for one of an organization the reader does not belong to. */
export default async function NoSuchQuote() {
  const person = await findPerson();
  return (
    <PlainPage>
      <PlainTitle title="Quote not found">
        This commission quote does not exist, or it belongs to an organization you are not a member of.
      </PlainTitle>
      <SignInElsewise email={person?.email ?? null} />
    </PlainPage>
  );
}
