import { networkAllowing } from "@/server/platform/http";
import type { SourceFault, SourceIo, SourceRef } from "./define";
import { commitOf, type Repo, startHub, weights } from "./hub.fixture";
import { huggingface } from "./huggingface";

export const TOKEN = "hf_canary_0123456789abcdef";
export let hub: Awaited<ReturnType<typeof startHub>>;

export async function openHub(): Promise<void> {
  hub = await startHub(TOKEN);
}

export const [OLD, NEW] = [commitOf("old"), commitOf("new")];
export const CARD = `---
license: other
license_name: flux-1-dev-non-commercial-license
license_link: https://huggingface.co/black-forest-labs/FLUX.1-dev/blob/main/LICENSE.md
language:
  - en
tags:
  - flux
  - lora
base_model: "black-forest-labs/FLUX.1-dev"
instance_prompt: mossy stone, wet light
widget:
  - text: "-"
---

# Moss
`;
export const FILE = weights({ metadata: { "modelspec.title": "Moss" } });
export const repo = (files: Record<string, Buffer>, more: Partial<Repo> = {}): Repo => ({
  refs: { main: NEW },
  commits: { [NEW]: files },
  ...more,
});
export const plain = (more: Partial<Repo> = {}) =>
  repo({ "README.md": Buffer.from(CARD), "moss.safetensors": FILE }, more);

export const io = (token: string | null = null, timeoutMs = 10_000): SourceIo => ({
  hub: { baseUrl: hub.url, token },
  rules: { hosts: ["127.0.0.1"], network: networkAllowing(true), timeoutMs },
});
export const ref = (more: Partial<SourceRef> = {}): SourceRef => ({
  kind: "huggingface",
  ref: "maker/moss",
  revision: null,
  filePath: null,
  provider: null,
  ...more,
});
export const preview = (more: Partial<SourceRef> = {}, through = io()) =>
  huggingface.preview!(ref(more), through);

export async function fault(work: Promise<unknown>): Promise<SourceFault> {
  const error = await work.then(
    () => new Error("It succeeded."),
    (thrown) => thrown,
  );
  if (error?.name !== "SourceFault") throw error;
  return error;
}

/** Bytes of weights that the CDN has sent. */
export const weightBytes = () =>
  hub.asked.filter(({ at }) => at === "cdn").reduce((sum, { bytes }) => sum + bytes, 0);
