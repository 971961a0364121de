/** One message to one address. `id` and `at` stay the same however often it is sent, so that copies are known as one. */
export type Letter = {
  /** The left part of its Message-ID. */
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
 * What became of it. Refused: the server will never take this letter for this address. Anything else may succeed later, and
 * may even have arrived. `reason` is for operators and names no secret; `cause` is for the log: words of ours alone.
 */
export type Outcome =
  | { state: "accepted" }
  | { state: "refused"; reason: string; cause: string }
  | { state: "not_sent"; reason: string; cause: string };

/** A way to send mail. The product knows nothing of a protocol but this. */
export type Mailer = {
  send(letter: Letter): Promise<Outcome>;
  /** Ends idle connections at once, and busy ones after what they are sending. */
  close(): void;
};
