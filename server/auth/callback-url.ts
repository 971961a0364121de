/**
 * The path to go to after signing in: a page of our own, or the start. Whatever names another origin,
 * an odd scheme or the sign-in page itself counts as the start, so no one can be sent away by a link.
 */
export function ownPath(asked: string | null | undefined, origin: string): string {
  if (!asked) return "/";
  let url: URL;
  try {
    url = new URL(asked, origin);
  } catch {
    return "/";
  }
  const isOwn = url.origin === new URL(origin).origin;
  const isAuth = url.pathname === "/sign-in" || url.pathname.startsWith("/api/");
  return isOwn && !isAuth ? url.pathname + url.search + url.hash : "/";
}
