/** A column of sealed texts. `when` is the condition of the rows whose text is sealed. */
export type SealedColumn = {
  table: string;
  column: string;
  /** The columns of the primary key, with their types. */
  key: Readonly<Record<string, "text" | "int">>;
  when: string;
};

/**
 * Every column with sealed texts, except the fields of credentials, which are JSON. `rewrapAll` changes these
 * columns and the credentials, and a test finds any column that is missing.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "payload", column: "content", key: { id: "text" }, when: "is_sealed AND content IS NOT NULL" },
  { table: "event_text", column: "text", key: { job_id: "text", event_id: "int" }, when: "is_sealed" },
  { table: "stream_frame", column: "data", key: { job_id: "text", id: "int" }, when: "is_sealed" },
  { table: "delivery", column: "body", key: { id: "text" }, when: "is_sealed AND body IS NOT NULL" },
  { table: "delivery_endpoint", column: "secret", key: { id: "text" }, when: "true" },
  {
    table: "user_account",
    column: "second_factor_secret",
    key: { id: "text" },
    when: "second_factor_secret IS NOT NULL",
  },
  { table: "signing_key", column: "private_key", key: { id: "text" }, when: "true" },
  { table: "vault_canary", column: "sealed", key: { id: "int" }, when: "true" },
];
