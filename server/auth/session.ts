import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { decode } from "next-auth/jwt";
import { cache } from "react";
import { clientAddress } from "@/server/api/address";
import { access } from "@/server/domain/access";
import { type Ctx, type Principal, systemClock } from "@/server/domain/ctx";
import { env } from "@/server/env";
import { newId } from "@/server/ids";
import { log } from "@/server/log";
import { SESSION_COOKIE } from "./cookies";

export type Person = Extract<Principal, { kind: "human_session" }>;

/**
 * The signed-in person of this request, or null. Beyond the cookie's seal and age, its version is compared with
 * the person's row each time, so a session that was ended is none from the next request on.
 */
export const findPerson = cache(async (): Promise<Person | null> => {
  const token = (await cookies()).get(SESSION_COOKIE)?.value;
  if (!token || !env.NEXTAUTH_SECRET) return null;
  const claims = await decode({ token, secret: env.NEXTAUTH_SECRET }).catch(() => null); // not ours, changed or too old
  if (!claims?.sub || typeof claims.sessionVersion !== "number") return null;
  return access.sessionPrincipal(claims.sub, claims.sessionVersion);
});

/** What a verb of the domain gets for this request of the panel. */
export const panelCtx = cache(async (): Promise<Ctx> => {
  const person = await findPerson();
  const requestId = newId("request");
  const address = clientAddress((await headers()).get("x-forwarded-for") ?? undefined, "");
  return {
    principal: person ?? { kind: "anonymous", id: "anonymous", address },
    requestId,
    now: systemClock,
    address: address || undefined,
    log: log.child({ requestId }),
  };
});

/** The signed-in person; anybody else is sent to sign in, and from there back to `path`. */
export async function requirePerson(path: string): Promise<Person> {
  return (await findPerson()) ?? redirect(`/sign-in?${new URLSearchParams({ callbackUrl: path })}`);
}
