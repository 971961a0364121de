import type { Ctx } from "@/server/domain/ctx";
import { env } from "@/server/env";
import { fail, ValidationFault } from "@/server/errors";
import { type Provider, ProviderFault } from "@/server/providers/define";
import type { Secret } from "@/server/secret";

const CHECK_MS = 15_000;

/** Asks the provider itself about an account. Null: it is good; else its refusal. ProviderUnavailable: nobody can say now. */
export async function askProvider(
  ctx: Ctx,
  provider: Provider,
  baseUrl: string,
  credentials: Record<string, Secret>,
): Promise<string | null> {
  const timeout = AbortSignal.timeout(CHECK_MS);
  try {
    await provider.check?.({
      baseUrl,
      credentials,
      signal: ctx.signal ? AbortSignal.any([ctx.signal, timeout]) : timeout,
      allowPrivateAddresses: env.ALLOW_PRIVATE_ADDRESSES,
    });
    return null;
  } catch (cause) {
    if (!(cause instanceof ProviderFault)) throw cause;
    if (cause.kind === "refused") return cause.message;
    fail(
      "ProviderUnavailable",
      `${provider.title} could not be asked whether it takes this: ${cause.message}`,
    );
  }
}

/** Refuses a secret that its provider refuses, at the field it came in. */
export async function requireAccepted(
  ctx: Ctx,
  provider: Provider,
  baseUrl: string,
  credentials: Record<string, Secret>,
): Promise<void> {
  const refusal = await askProvider(ctx, provider, baseUrl, credentials);
  if (refusal !== null)
    throw new ValidationFault([{ loc: ["body", "secret"], msg: refusal, type: "refused_by_provider" }]);
}
