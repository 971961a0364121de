import { fail } from "@/server/errors";

/**
 * Refuses a state-changing request that another site made the browser send along with our cookie.
 * Browsers put Origin on every such request and most add Sec-Fetch-Site; one without either is no browser
 * of ours. Answers with CrossSiteRequest (403).
 */
export function requireSameOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const host = request.headers.get("x-forwarded-host") ?? request.headers.get("host");
  const isSameSite = site === null || site === "same-origin";
  const isSameHost = origin === null || (host !== null && hostOf(origin) === host);
  if ((site === null && origin === null) || !isSameSite || !isSameHost) {
    fail("CrossSiteRequest", "This request must come from the panel's own pages.");
  }
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null; // `null`, the origin of sandboxed documents
  }
}

/** Refuses a body that is not JSON: a plain HTML form of another site can send no such thing. UnsupportedMediaType (415). */
export function requireJson(request: Request): void {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") fail("UnsupportedMediaType", "Send the body as application/json.");
}
