-- Few deliveries are in another state than succeeded, and each leaves this index when it gets there.
CREATE INDEX CONCURRENTLY "delivery_unsuccessful" ON "delivery" ("project_id", "state", "id") WHERE "state" <> 'succeeded';
