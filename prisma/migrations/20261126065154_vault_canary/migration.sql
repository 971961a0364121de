-- CreateTable
CREATE TABLE "vault_canary" (
    "id" INTEGER NOT NULL,
    "sealed" TEXT NOT NULL,

    CONSTRAINT "vault_canary_pkey" PRIMARY KEY ("id")
);

SELECT capstan_guard_tenants();
