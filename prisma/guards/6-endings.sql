-- Embed sessions end with the right to create them: if a key is revoked, or a member leaves or becomes a viewer, the
-- sessions they created end. Creating a session locks that key or membership until the session is stored
-- (`sessions.ts`).
CREATE FUNCTION capstan_end_panel_sessions(organization text, maker text, moment timestamptz) RETURNS void LANGUAGE sql
BEGIN ATOMIC
  UPDATE panel_session SET revoked_at = moment
  WHERE created_by = maker AND organization_id = organization AND revoked_at IS NULL AND expires_at > moment;
END;
CREATE INDEX "panel_session_of_maker" ON "panel_session" ("created_by") WHERE "revoked_at" IS NULL;
CREATE FUNCTION capstan_end_sessions_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM capstan_end_panel_sessions(NEW."organization_id", NEW."id", NEW."revoked_at");
  RETURN NULL;
END $$;
CREATE TRIGGER "api_key_ends_its_sessions" AFTER UPDATE OF "revoked_at" ON "api_key"
  FOR EACH ROW WHEN (OLD."revoked_at" IS NULL AND NEW."revoked_at" IS NOT NULL)
  EXECUTE FUNCTION capstan_end_sessions_of_key();
CREATE FUNCTION capstan_end_sessions_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM capstan_end_panel_sessions(OLD."organization_id", OLD."user_id", now());
  RETURN NULL;
END $$;
CREATE TRIGGER "membership_ends_its_sessions" AFTER DELETE ON "membership"
  FOR EACH ROW EXECUTE FUNCTION capstan_end_sessions_of_member();
CREATE TRIGGER "lowered_membership_ends_its_sessions" AFTER UPDATE OF "role" ON "membership"
  FOR EACH ROW WHEN (NEW."role" = 'viewer') EXECUTE FUNCTION capstan_end_sessions_of_member();

-- A deleted connection has no ceiling: its guardrail stays as history that nothing counts against.
CREATE FUNCTION capstan_end_guardrail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE budget SET enforcement = 'off' WHERE organization_id = OLD."organization_id" AND scope = 'connection:' || OLD."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "credential_ends_its_guardrail" AFTER DELETE ON "credential"
  FOR EACH ROW EXECUTE FUNCTION capstan_end_guardrail();
