import { weightsLink } from "@/server/domain/adapters/sources/weights-link";
import { commitOf, startHub, weights } from "@/server/model-sources/hub.fixture";
import { ulid } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { HOUR_MS } from "@/server/platform/time/units";
import { setSettings } from "@/testing/settings";
import type { Tenant } from "./api";
import { uploadOf } from "./forms";

/** A body that registers an adapter of the sandbox under a new name. */
export const newAdapter = (displayName = `Adapter ${ulid()}`) => ({
  displayName,
  baseModelFamily: "flux",
  source: { kind: "provider_ref", provider: "sandbox", ref: `weights/${ulid()}`, revision: "1" },
});

/** The adapters that a tenant has registered, and requests with them that succeed. */
export type Adapters = Awaited<ReturnType<typeof openAdapters>>;

/**
 * Registers adapters of a tenant, one of them under an alias; tests may delete the spares. Public adapters are looked up at a
 * test hub with one repository, which runs until `close`.
 */
export async function openAdapters(tenant: Tenant, spares = 12) {
  const hub = await startHub("hf_of_the_tests");
  const commit = commitOf("main");
  hub.repos["maker/moss"] = {
    refs: { main: commit },
    commits: { [commit]: { "moss.safetensors": weights() } },
  };
  const { HF_BASE_URL, ADAPTER_SOURCE_HOSTS } = env;
  setSettings({ HF_BASE_URL: hub.url, ADAPTER_SOURCE_HOSTS: ["127.0.0.1"] });
  const register = async (): Promise<string> =>
    (await tenant.post("/v1/adapters", newAdapter())).json.adapterId;
  const adapterId = await register();
  const target = { adapterId };
  const { current } = (await tenant.post("/v1/adapter-aliases", { alias: "Hero", target })).json;
  const uploaded = await tenant.post("/v1/artifacts", weights(), {
    headers: { "content-type": "application/octet-stream" },
  });
  const inAnHour = new Date(Date.now() + HOUR_MS);
  const spare = await Promise.all(Array.from({ length: spares }, register));
  return {
    adapterId,
    alias: "Hero",
    versionId: current.versionId as string,
    /** The path at which a vendor fetches uploaded weights. */
    link: new URL(weightsLink(uploaded.json.artifactId, inAnHour)).pathname,
    artifactId: uploaded.json.artifactId as string,
    register,
    hub,
    async close() {
      setSettings({ HF_BASE_URL, ADAPTER_SOURCE_HOSTS });
      await hub.stop();
    },
    /** A request that succeeds, for each path template of adapters. A delete uses up a spare. */
    sample(method: string, template: string): { method: string; target: string; body?: unknown } {
      if (template.includes("{weights_link}")) return { method, target: this.link };
      const one = method === "DELETE" ? (spare.shift() ?? adapterId) : adapterId;
      const path = template
        .replace("{adapter_id}", one)
        .replace("{alias_name}", "hero")
        .replace("{capability_key}", "image.generate.v1");
      const request = { method, target: `${path}?projectId=${tenant.projectId}` };
      const body = bodyOf(method, template);
      return body === undefined ? request : { ...request, body };
    },
  };

  function bodyOf(method: string, template: string): unknown {
    if (method === "PUT") return { alias: "hero" };
    if (method === "PATCH") return { recommendedWeight: 0.5 };
    if (method !== "POST") return undefined;
    const verb = template.split("/").at(-1);
    if (verb === "source-preview") return { query: "maker/moss" };
    if (verb === "suggestions" || verb === "accept") return { query: "hero" };
    if (verb === "revalidate") return undefined;
    if (verb === "upload") return uploadOf();
    if (verb === "adapters") return newAdapter();
    if (verb === "adapter-aliases") return { alias: `Alias ${ulid()}`, target };
    if (verb === "promotions") return { target };
    return {};
  }
}
