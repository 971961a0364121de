import { SignInElsewise } from "@/components/commissions/sign-in-elsewise";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { findPerson } from "@/server/auth/session";

/** One page for a quote that is not there and for one of an organization the reader does not belong to. */
export default async function NoSuchQuote() {
  const person = await findPerson();
  return (
    <PlainPage>
      <PlainTitle title="No quote for you here">
        There is no such commission quote, or it belongs to an organization you are not a member of.
      </PlainTitle>
      <SignInElsewise email={person?.email ?? null} />
    </PlainPage>
  );
}
