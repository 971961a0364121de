-- The same policy, in a form that the planner does not take for a rare match: as one comparison it seemed to leave one row of a
-- hundred, and a list then read and sorted all rows of a project in place of the first of an index.
CREATE OR REPLACE FUNCTION capstan_guard_tenants() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tenant_table regclass;
BEGIN
  FOR tenant_table IN
    SELECT c.oid::regclass FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id' AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant')
  LOOP
    EXECUTE format('ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY; ALTER TABLE %1$s FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY "tenant" ON %s USING (CASE current_setting(''capstan.project_id'', true)
      WHEN ''*'' THEN true ELSE current_setting(''capstan.project_id'', true) = "project_id" END)', tenant_table);
  END LOOP;
END $$;

DO $$
DECLARE
  tenant_table regclass;
BEGIN
  FOR tenant_table IN
    SELECT p.polrelid::regclass FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
    WHERE p.polname = 'tenant' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname
  LOOP
    EXECUTE format('ALTER POLICY "tenant" ON %s USING (CASE current_setting(''capstan.project_id'', true)
      WHEN ''*'' THEN true ELSE current_setting(''capstan.project_id'', true) = "project_id" END)', tenant_table);
  END LOOP;
END $$;
