CREATE INDEX CONCURRENTLY "audit_entry_of_actor" ON "audit_entry" ("organization_id", "actor_id", "id");
