import { UNREACHABLE } from "@/components/data/unreachable";
/**
 * The message for a refused sign-in. `publicUrl` is this installation's configured address. The message never reveals
 * whether the email or the password was wrong.
 */
export function signInMessage(error: string, publicUrl: string): string {
  if (error === "CrossSiteRequest")
    return `This page's address is not the one this installation is configured for. Open ${publicUrl} instead, or ask your operator to set PUBLIC_URL to the address in your browser.`;
  const wait = /^RateLimited:(\d+)$/.exec(error);
  if (wait) {
    const minutes = Math.max(1, Math.ceil(Number(wait[1]) / 60));
    return `Too many failed attempts. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`;
  }
  return (
    MESSAGES[error] ??
    "Sign-in failed because of a server error. Try again. If it keeps failing, contact your operator."
  );
}

/** The message for a refused second step. */
export function codeMessage(error: string, publicUrl: string): string {
  if (error === "CredentialsSignin") return "This code is wrong or was already used. Enter the current code.";
  return signInMessage(error, publicUrl);
}

const MESSAGES: Record<string, string> = {
  CredentialsSignin: "Wrong email or password.",
  NoAccount:
    "No account has this identity's verified email. Ask an owner of your organization to invite you.",
  IdentityTaken:
    "The account with this email is linked to another identity of this provider. Use that identity or your password.",
  EmailNotVerified: "This identity has no verified email, so it cannot be matched to an account.",
  AccessDenied: "Access was denied.",
  OAuthCallback: "The identity provider did not complete the sign-in. Try again.",
  OAuthSignin: "The identity provider could not be reached. Try again.",
  Callback: "The identity provider did not complete the sign-in. Try again.",
  CodeTooLate: "The sign-in timed out. Sign in again.",
  Unreachable: UNREACHABLE,
};

/** The reason for a reader who is signed in and wants another account. */
export const SWITCH = "switch";

/** Messages for readers whom the panel sent here. */
export const SIGN_IN_REASONS: Record<string, string> = {
  ended: "Your session has ended. Sign in to continue where you left off.",
  out: "You are signed out.",
  everywhere: "You are signed out on every device.",
  [SWITCH]: "Sign in with the account you want to use. Your other account stays signed in on other devices.",
};
