import type { ModelAdapter } from "@/server/contract/adapters";

/** An adapter as the API returns it. */
export const adapterOf = (
  more: Partial<Omit<ModelAdapter, "source">> & { source?: Partial<ModelAdapter["source"]> } = {},
): ModelAdapter => ({
  adapterId: "adp_1",
  projectId: "cpr_1",
  environment: "development",
  displayName: "Moss",
  type: "lora",
  frozen: true,
  runnable: true,
  notRunnable: [],
  sourceHealth: { status: "healthy", checkedAt: "2026-11-20T10:00:00.000Z", detail: null },
  baseModelFamily: "flux",
  compatibleModels: [],
  triggerWords: ["mossy"],
  recommendedWeight: 0.8,
  licenseName: "apache-2.0",
  licenseUrl: null,
  licenseStatus: "declared",
  provenance: {},
  aliases: [],
  createdBy: "usr_1",
  createdAt: "2026-11-20T10:00:00.000Z",
  ...more,
  source: {
    kind: "huggingface",
    ref: "ada/moss",
    revision: "a".repeat(40),
    filePath: "moss.safetensors",
    provider: null,
    sha256: "b".repeat(64),
    byteLength: 1_000,
    ...more.source,
  },
});
