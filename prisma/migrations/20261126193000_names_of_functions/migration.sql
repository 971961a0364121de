-- What the functions do is in their names. capstan_scopes, which calls the first, follows it automatically.
ALTER FUNCTION capstan_heirs(text) RENAME TO capstan_key_successors;
ALTER FUNCTION capstan_bequeath(text, text, text, timestamptz) RENAME TO capstan_transfer_budgets;

-- Processes of the version before call the old names until they are stopped.
CREATE FUNCTION capstan_heirs(key text) RETURNS text[] LANGUAGE sql STABLE
RETURN capstan_key_successors(key);
CREATE FUNCTION capstan_bequeath(organization text, old_key text, new_key text, moment timestamptz) RETURNS integer LANGUAGE sql
RETURN capstan_transfer_budgets(organization, old_key, new_key, moment);
