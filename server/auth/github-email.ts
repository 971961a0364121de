import { z } from "zod";

const Emails = z.array(z.looseObject({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/**
 * The e-mail address that GitHub has verified: the primary one if it is verified, else null. The address in the public
 * profile does not count, because anyone can enter any address there.
 */
export function verifiedEmail(emails: unknown): string | null {
  const parsed = Emails.safeParse(emails);
  return parsed.data?.find((entry) => entry.primary && entry.verified)?.email ?? null;
}
