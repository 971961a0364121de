import { isSandboxOn } from "@/server/platform/settings/env";
import { SANDBOX } from "./targets";

/** The alias that the catalog's example uses. */
const ALIAS = "house-style";

/** A registration that needs no account at a provider, because the sandbox knows every reference with a revision. */
const REGISTRATION = {
  displayName: "House style",
  baseModelFamily: "flux",
  source: { kind: "provider_ref", provider: SANDBOX, ref: `${SANDBOX}:${ALIAS}`, revision: "1" },
};

/**
 * Returns the two requests that let the catalog's example of an adapter run in the sandbox, or an empty object if the
 * sandbox is off.
 */
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

/**
 * Returns the last sentence of a refusal, which names a source that works in the sandbox. The sentence is empty if the
 * sandbox is off.
 */
export const sandboxSource = () =>
  isSandboxOn ? ` The sandbox takes this source: ${JSON.stringify(REGISTRATION.source)}.` : "";
