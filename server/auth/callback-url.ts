/**
 * The path to go to after signing in: a page of our own, or the start. An address of another origin, an odd scheme and a
 * path that a browser would read as another host ("//host") count as the start, so no link can send anyone away. The
 * sign-in page stands for the page that it would return to.
 */
export function ownPath(asked: string | null | undefined, origin: string): string {
  if (!asked) return "/";
  let url: URL;
  try {
    url = new URL(asked, origin);
  } catch {
    return "/";
  }
  const { pathname } = url;
  if (url.origin !== new URL(origin).origin || pathname.startsWith("//")) return "/";
  if (pathname === "/sign-in") return ownPath(url.searchParams.get("callbackUrl"), origin);
  return pathname.startsWith("/api/") ? "/" : pathname + url.search + url.hash;
}
