CREATE INDEX CONCURRENTLY "notification_unread" ON "notification" ("user_id") WHERE "read_at" IS NULL;
