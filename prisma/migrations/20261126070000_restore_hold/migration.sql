-- What a restored installation does not send until an operator releases it.

-- CreateTable
CREATE TABLE "restore_hold" (
    "kind" TEXT NOT NULL,
    "before" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "restore_hold_pkey" PRIMARY KEY ("kind")
);

SELECT capstan_guard_tenants();
