import pg from "pg";

/** Actions that change a file, or span many transactions. */
const NO_ACT_IN_ROWS = ["vault.key_made", "vault.keys_dropped", "vault.rewrapped"];

/**
 * In tests the database refuses an audit row that is the first write of its transaction, so each test of a verb also checks
 * that the verb writes its audit rows in the transaction of the act, after it. PostgreSQL gives a transaction its id at its
 * first write.
 */
export async function refuseAuditAlone(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`
      CREATE FUNCTION test_refuse_audit_alone() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF pg_current_xact_id_if_assigned() IS NULL THEN
          RAISE EXCEPTION 'audit row % is not in the transaction of its act', NEW.action;
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER test_audit_with_its_act BEFORE INSERT ON audit_entry FOR EACH ROW
        WHEN (NEW.action NOT IN (${NO_ACT_IN_ROWS.map((action) => `'${action}'`)}))
        EXECUTE FUNCTION test_refuse_audit_alone()`);
  } finally {
    await client.end();
  }
}
