/** One message to one address. `id` and `at` are the same on every attempt, so that copies can be recognized. */
export type Email = {
  /** The left part of the Message-ID. */
  id: string;
  /** The right part. */
  domain: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  at: Date;
};

/**
 * The outcome of an attempt. Refused: the server will never accept this email for this address. Any other failure may
 * succeed later, and the email may even have arrived. `reason` is for operators and contains no secret; `cause` is for
 * the log and contains only our own words.
 */
export type MailResult =
  | { state: "accepted" }
  | { state: "refused"; reason: string; cause: string }
  | { state: "not_sent"; reason: string; cause: string };

/** A way to send email. The rest of the product knows only this interface. */
export type Mailer = {
  send(letter: Email): Promise<MailResult>;
  /** Closes idle connections immediately, and busy ones after their current message. */
  close(): void;
};
