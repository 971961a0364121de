import { TOTP } from "otpauth";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as sessions from "@/server/domain/sessions";

/** The code that an authenticator with this secret shows at this time. */
export function codeAt(secret: string, at: Date): string {
  return new TOTP({ secret }).generate({ timestamp: at.getTime() });
}

/** The same context at a later time. */
export const later = (ctx: Ctx, seconds: number): Ctx => {
  const at = new Date(ctx.now().getTime() + seconds * 1000);
  return { ...ctx, now: () => at };
};

/** Turns on the second factor of a person with a password, confirmed at the time of `ctx`. */
export async function turnOn(ctx: Ctx, password: string) {
  const { secret, uri } = await sessions.startSecondFactor(ctx, password);
  const { recoveryCodes } = await sessions.confirmSecondFactor(ctx, codeAt(secret, ctx.now()));
  return { secret, uri, recoveryCodes };
}

/** The context of an unauthenticated visitor from this address at this time. */
export const visitor = (at: Date, address = "203.0.113.77"): Ctx => ({
  ...systemCtx("sign-in", () => at),
  address,
});
