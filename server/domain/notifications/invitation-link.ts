import { createHmac } from "node:crypto";
import { sha256Hex } from "@/server/canonical";
import { env } from "@/server/env";

/*
 * The link of an invitation is in no row: its token is made of the row's nonce and the secret of this installation, when a
 * letter leaves. Who reads the database can accept nothing.
 */

/**
 * Stands where the token belongs, in a letter that is written down. Of the nonce, which nobody has seen when they choose the
 * words of the letter: no name that somebody gave can hold a place of its own for the token.
 */
const placeOf = (nonce: string) => `invitation-${sha256Hex(`invitation place|${nonce}`)}`;

/** The page of an invitation. What follows # is never sent to a server, so the token stands in no log. */
export const invitationHref = (nonce: string) => `/invitation#${placeOf(nonce)}`;

/** The token of an invitation as its last letter has it: 256 bits. */
export function invitationToken(invitationId: string, nonce: string): string {
  if (!env.NEXTAUTH_SECRET) throw new Error("NEXTAUTH_SECRET is not set: links cannot be made.");
  const key = createHmac("sha256", env.NEXTAUTH_SECRET).update("invitation|v1").digest();
  return createHmac("sha256", key).update(`${invitationId}|${nonce}`).digest("base64url");
}

/** A part of a letter with its link in it. */
export function withLink(part: string, invitationId: string | null, nonce: string | null): string {
  if (invitationId === null || nonce === null) return part;
  return part.replaceAll(placeOf(nonce), invitationToken(invitationId, nonce));
}
