/** The error of one field of a request. */
export type FieldIssue = {
  loc: (string | number)[];
  msg: string;
  type: string;
  /** The bound that the value violates, if any. */
  ctx?: { minimum?: number; maximum?: number };
};
