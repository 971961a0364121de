-- Tenants. -----------------------------------------------------------------------------------------------
-- Every table with a project_id shows only rows of the project in the setting capstan.project_id, or all rows for '*'
-- (the system). Without the setting it shows nothing. Every migration made by `npm run migrate -- dev` ends with this
-- call, so that no new table is forgotten.

CREATE FUNCTION capstan_guard_tenants() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tenant_table regclass;
BEGIN
  FOR tenant_table IN
    SELECT c.oid::regclass FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id' AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant')
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenant_table);
    -- A CASE, because the planner takes one comparison for a rare match, and then reads and sorts all rows of a project in place
    -- of the first of an index.
    EXECUTE format('CREATE POLICY "tenant" ON %s USING (CASE current_setting(''capstan.project_id'', true)
      WHEN ''*'' THEN true ELSE current_setting(''capstan.project_id'', true) = "project_id" END)', tenant_table);
  END LOOP;
END $$;

SELECT capstan_guard_tenants();
