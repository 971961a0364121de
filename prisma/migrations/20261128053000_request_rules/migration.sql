-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "request_rules" JSONB;

SELECT capstan_guard_tenants();
