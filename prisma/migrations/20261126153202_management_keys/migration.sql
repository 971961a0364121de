-- Management keys: what one can hand out is in its row, and its ceiling is its budget.
ALTER TABLE "api_key" ADD COLUMN "made_by_key" TEXT, ADD COLUMN "management" JSONB;
CREATE INDEX "api_key_made_by_key_idx" ON "api_key"("made_by_key");
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_made_by_key_fkey" FOREIGN KEY ("made_by_key") REFERENCES "api_key"("id")
  ON DELETE RESTRICT ON UPDATE CASCADE;
-- A management key ends, is bound to no project, and was created by a person; a key that it created is bound to a project.
ALTER TABLE "api_key" ADD CONSTRAINT "management_key_is_bounded" CHECK ("management" IS NULL OR
  ("project_id" IS NULL AND "made_by_key" IS NULL AND "expires_at" <= "created_at" + interval '90 days') IS TRUE);
ALTER TABLE "api_key" ADD CONSTRAINT "made_key_is_bound" CHECK ("made_by_key" IS NULL OR "project_id" IS NOT NULL);

-- Whose ceilings an execution counts against. `guardrail` is the organization's own, of what runs on its own accounts;
-- `connection` is one of these accounts: an execution of several calls counts in full against each that it may run on. What a
-- key spends that a management key created counts against the management key as well, so all its keys share one ceiling.
CREATE OR REPLACE FUNCTION capstan_scopes(organization text, project text, principal text, person text, billing_mode text, credentials text[])
RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY['organization:' || organization, 'project:' || project, 'principal:' || principal, 'principal:' || person,
  CASE WHEN billing_mode = 'byok' THEN 'guardrail:' || organization END]
  || CASE WHEN principal LIKE 'key\_%' THEN capstan_heirs(principal)
    || ARRAY(SELECT 'principal:' || made_by_key FROM api_key WHERE id = principal AND made_by_key IS NOT NULL) END
  || CASE WHEN cardinality(credentials) > 0 THEN ARRAY(SELECT 'connection:' || id FROM unnest(credentials) AS id) END;

SELECT capstan_guard_tenants();
