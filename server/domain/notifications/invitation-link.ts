import { createHmac } from "node:crypto";
import { env } from "@/server/platform/settings/env";
import { sha256Hex } from "@/server/platform/text/canonical";

/*
 * No row contains an invitation's link: its token is derived from the row's nonce and the installation's secret when
 * the email is sent. Someone who reads the database cannot accept an invitation.
 */

/**
 * The placeholder for the token in a stored email. Derived from the nonce, which no one knows when choosing a name in
 * the email's text, so that no name can contain a placeholder of its own.
 */
const placeOf = (nonce: string) => `invitation-${sha256Hex(`invitation place|${nonce}`)}`;

/** The invitation's page. The part after # is never sent to a server, so the token is in no log. */
export const invitationHref = (nonce: string) => `/invitation#${placeOf(nonce)}`;

/** The token of an invitation's latest email: 256 bits. */
export function invitationToken(invitationId: string, nonce: string): string {
  if (!env.NEXTAUTH_SECRET) throw new Error("NEXTAUTH_SECRET is not set, so links cannot be created.");
  const key = createHmac("sha256", env.NEXTAUTH_SECRET).update("invitation|v1").digest();
  return createHmac("sha256", key).update(`${invitationId}|${nonce}`).digest("base64url");
}

/** A part of an email with its link filled in; unchanged if the email is no invitation. */
export function withLink(part: string, invitationId: string | null, nonce: string | null): string {
  if (invitationId === null || nonce === null) return part;
  return part.replaceAll(placeOf(nonce), invitationToken(invitationId, nonce));
}
