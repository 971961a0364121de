-- AlterTable
ALTER TABLE "payment" ADD COLUMN     "refund_steps" JSONB NOT NULL DEFAULT '{}';

SELECT capstan_guard_tenants();
