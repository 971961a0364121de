-- In the order of bytes, in which the actions with one prefix stand together, whatever the order of the database is.
CREATE INDEX CONCURRENTLY "audit_entry_of_action" ON "audit_entry" ("organization_id", "action" COLLATE "C", "id");
