import type { SignInOptions } from "next-auth/react";

/** Signs in by one of the ways that are set up. The library is loaded with the first try. */
export async function signIn(provider: string, options: SignInOptions) {
  const { signIn } = await import("next-auth/react");
  return signIn<"credentials">(provider, options); // every way answers as this one does
}
