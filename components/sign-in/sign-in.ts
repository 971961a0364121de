import type { SignInOptions } from "next-auth/react";

/** Signs in with one of the configured providers. The library is loaded on the first attempt. */
export async function signIn(provider: string, options: SignInOptions) {
  const { signIn } = await import("next-auth/react");
  return signIn<"credentials">(provider, options); // every provider's result has the type of this one
}
