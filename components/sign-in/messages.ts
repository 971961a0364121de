/**
 * Why a sign-in was refused, for the reader; `publicUrl` is the address this installation is set up for. Never says which of
 * e-mail and password was wrong.
 */
export function signInMessage(error: string, publicUrl: string): string {
  if (error === "CrossSiteRequest")
    return `You opened this page at another address than this installation is set up for. Open ${publicUrl} instead, or ask your operator to set PUBLIC_URL to the address in your browser.`;
  const wait = /^RateLimited:(\d+)$/.exec(error);
  if (wait) {
    const minutes = Math.max(1, Math.ceil(Number(wait[1]) / 60));
    return `Too many failed tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`;
  }
  return MESSAGES[error] ?? "Signing in failed on our side. Try again; if it stays, tell your operator.";
}

/** The same of the second step. */
export function codeMessage(error: string, publicUrl: string): string {
  if (error === "CredentialsSignin") return "This code is not right, or was used.";
  return signInMessage(error, publicUrl);
}

const MESSAGES: Record<string, string> = {
  CredentialsSignin: "E-mail or password is wrong.",
  NoAccount:
    "There is no account for the verified e-mail of that identity. Ask an owner of your organization to add you.",
  IdentityTaken:
    "The account with that e-mail signs in by another identity of this provider. Use that one, or your password.",
  EmailNotVerified: "That identity has no verified e-mail, so it cannot be matched to an account.",
  AccessDenied: "Access was denied.",
  OAuthCallback: "The identity provider did not complete the sign-in. Try again.",
  OAuthSignin: "The identity provider could not be reached. Try again.",
  Callback: "The identity provider did not complete the sign-in. Try again.",
  CodeTooLate: "This took too long. Sign in again.",
  Unreachable: "The server could not be reached. Check your connection and try again.",
};

/** The reason of a reader who is signed in, and wants to be somebody else. */
export const SWITCH = "switch";

/** What a reader who was sent here by the panel should know. */
export const REASONS: Record<string, string> = {
  ended: "Your session has ended. Sign in to go on where you were.",
  out: "You are signed out here.",
  everywhere: "You are signed out on every device.",
  [SWITCH]: "Sign in with the account you want to go on with. The other one stays as it is on other devices.",
};
