-- The source of an adapter never changes; its description, the health of its source and that it was put away may.
CREATE OR REPLACE FUNCTION capstan_guard_adapter() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  may_change CONSTANT text[] := ARRAY['display_name', 'name_key', 'base_model_family', 'compatible_models', 'trigger_words',
    'recommended_weight', 'license_name', 'license_url', 'license_status', 'health_status', 'health_checked_at', 'health_detail',
    'deleted_at'];
BEGIN
  IF (to_jsonb(NEW) - may_change) IS DISTINCT FROM (to_jsonb(OLD) - may_change) THEN
    RAISE EXCEPTION 'adapter %: its source never changes', OLD."id" USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
