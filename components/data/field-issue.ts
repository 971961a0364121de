/** The error of one field of a request. */
export type FieldIssue = {
  loc: (string | number)[];
  msg: string;
  type: string;
  /** The bound that was exceeded, if any. */
  ctx?: { minimum?: number; maximum?: number };
};
