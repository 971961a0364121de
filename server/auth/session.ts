import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { type Ctx, systemClock } from "@/server/domain/ctx";
import { clientAddress } from "@/server/platform/client-address";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { type HumanPrincipal, pendingOf, personOfCookie } from "./claims";
import { SESSION_COOKIE } from "./cookies";

/** The signed-in person of this request, or null. */
export const findPerson = cache(async (): Promise<HumanPrincipal | null> => {
  return personOfCookie((await cookies()).get(SESSION_COOKIE)?.value ?? "", systemClock());
});

/** True if this browser has passed the first step of signing in and still owes a code. */
export async function isCodeWaitedFor(): Promise<boolean> {
  return (await pendingOf((await cookies()).get(SESSION_COOKIE)?.value ?? "", systemClock())) !== null;
}

/** The context in which the domain's verbs run for this request of the panel. */
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

/** The signed-in person. Anyone else is sent to sign in, and from there back to `path`. */
export async function requirePerson(path: string): Promise<HumanPrincipal> {
  return (await findPerson()) ?? redirect(`/sign-in?${new URLSearchParams({ callbackUrl: path })}`);
}
