import { isSandboxOn } from "@/server/platform/settings/env";
import { SANDBOX } from "./targets";

/** The alias that the catalog's example names. */
const ALIAS = "house-style";

/** A registration that needs no account at a provider: the sandbox knows every reference that has a revision. */
const REGISTRATION = {
  displayName: "House style",
  baseModelFamily: "flux",
  source: { kind: "provider_ref", provider: SANDBOX, ref: `${SANDBOX}:${ALIAS}`, revision: "1" },
};

/** The two requests that let the catalog's example of an adapter run in the sandbox; nothing where it is off. */
export const registerInSandbox = () =>
  isSandboxOn
    ? {
        register: { request: "POST /v1/adapters", body: REGISTRATION },
        name: {
          request: "POST /v1/adapter-aliases",
          body: { alias: ALIAS, target: { adapterId: "the adapterId of the answer" } },
        },
      }
    : {};

/** Names a source that works in the sandbox, as the last sentence of a refusal; empty where it is off. */
export const sandboxSource = () =>
  isSandboxOn ? ` The sandbox takes this source: ${JSON.stringify(REGISTRATION.source)}.` : "";
