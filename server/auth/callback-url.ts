/**
 * The path to open after signing in: a page of our own, or the start page. An address of another origin, an
 * odd scheme, a path under /api/ and a path that a browser would read as another host ("//host") become the
 * start page, so that no link can send anyone to another site. An address of the sign-in page becomes the
 * page that it would return to.
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
