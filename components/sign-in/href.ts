/**
 * The sign-in page for a reader whose session ended on this page, which leads back here. Null on the sign-in page: the
 * server has already sent the reader there, and a late answer must not replace the address to return to.
 */
export function returnHref({ pathname, search }: Pick<Location, "pathname" | "search">): string | null {
  if (pathname === "/sign-in") return null;
  return `/sign-in?${new URLSearchParams({ callbackUrl: pathname + search, reason: "ended" })}`;
}
