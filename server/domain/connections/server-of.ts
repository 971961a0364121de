import { ValidationFault } from "@/server/platform/errors/errors";
import { refusalOfAddress } from "@/server/platform/http";
import { env } from "@/server/platform/settings/env";
import { ALLOW } from "@/server/providers/faults";
import type { Provider } from "@/server/providers/provider";
import { baseUrlOf } from "./operator";

type Named = {
  endpointUrl?: string | null | undefined;
  models?: string | null | undefined;
  passThrough?: string[] | null | undefined;
};
/** The address of a connection's calls, its models, and the extra request members that it receives. */
type Server = {
  baseUrl: string;
  endpointUrl: string | null;
  models: string | null;
  passThrough: string[] | null;
};

const refuse = (
  field: "provider" | "endpointUrl" | "models" | "passThrough",
  msg: string,
  type = "value_error",
): never => {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
};

/**
 * The server of a new connection: the provider's own, or the one that its owner names, with its models and
 * prices.
 */
export function serverOf(provider: Provider, { endpointUrl, models, passThrough = null }: Named): Server {
  if (provider.modelsFrom) {
    if (!endpointUrl) return refuse("endpointUrl", "The server's base URL is required.", "missing");
    if (!models)
      return refuse("models", "The server's models are required, as id:in:out with their prices.", "missing");
    const address = checkedAddress(endpointUrl);
    return { baseUrl: address, endpointUrl: address, models: checkedModels(provider, models), passThrough };
  }
  checkPassThrough(provider, passThrough);
  if (endpointUrl) refuse("endpointUrl", `${provider.title} has a fixed address. Leave this field out.`);
  if (models) refuse("models", `${provider.title} has a fixed list of models. Leave this field out.`);
  const baseUrl = baseUrlOf(provider);
  return baseUrl
    ? { baseUrl, endpointUrl: null, models: null, passThrough: null }
    : refuse("provider", `${provider.title} has no address in this installation.`);
}

/** Throws if extra request members are set for anything but a customer's own server. */
export function checkPassThrough(provider: Provider, passThrough: string[] | null | undefined): void {
  if (passThrough && !provider.modelsFrom)
    refuse("passThrough", `${provider.title} does not support extra members. Leave this field out.`);
}

/** The owner's list of models with prices; a 422 if it is empty or malformed. */
export function checkedModels(provider: Provider, models: string): string {
  try {
    if (provider.modelsFrom?.(models).length) return models;
  } catch (cause) {
    return refuse("models", (cause as Error).message); // `modelsFrom` throws Errors with a sentence
  }
  return refuse("models", "At least one model is required.");
}

function checkedAddress(text: string): string {
  if (!URL.canParse(text)) return refuse("endpointUrl", "This is not a valid URL.");
  const url = new URL(text);
  const allowPrivateAddresses = env.ALLOW_PRIVATE_ADDRESSES;
  const refusal = refusalOfAddress(url, { allowHttp: allowPrivateAddresses, allowPrivateAddresses });
  if (refusal)
    return refuse("endpointUrl", `${refusal}${allowPrivateAddresses ? "" : ` ${ALLOW}`}`, "url_refused");
  url.hash = "";
  url.search = "";
  return url.href.replace(/\/+$/, "");
}
