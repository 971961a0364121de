/**
 * The sign-in URL for a reader whose session ended on this page, which leads back here. Null on the sign-in page itself: the
 * server has already sent the reader there, and a late response must not replace the address to return to.
 */
export function returnHref({ pathname, search }: Pick<Location, "pathname" | "search">): string | null {
  if (pathname === "/sign-in") return null;
  return `/sign-in?${new URLSearchParams({ callbackUrl: pathname + search, reason: "ended" })}`;
}
