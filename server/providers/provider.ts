import type { z } from "zod";
import type { ContentRating, ModelFacts, PortAdapter, PortName, ProviderAccount } from "./define";
import type { PinApis } from "./pins";

export type Provider = {
  name: string;
  title: string;
  /** The highest content rating that the provider's usage policy allows. */
  maturity: ContentRating;
  /** Fields of a connection's secret. The form shows them, and a secret is parsed with them before each use. */
  credentials: z.ZodObject;
  /** Names of the settings with the operator's credentials and base URL. */
  environment: { credentials: Record<string, string>; baseUrl: string };
  defaultBaseUrl: string | null;
  models: ModelFacts[];
  /** Set if the vendor documents that it bills requests that end with an error. */
  errorsAreBilled?: true;
  /**
   * Reads the models of servers whose prices only their owner knows, from the owner's text. Throws with a sentence
   * about the part it cannot read. A connection of such a provider names its own server and models.
   */
  modelsFrom?(declared: string, members?: readonly string[]): ModelFacts[];
  /**
   * Example of such a text, with a model of each kind. It tells which capabilities these servers can serve before one
   * is connected.
   */
  modelsExample?: string;
  /**
   * Checks an account's credentials with the vendor, without changes or costs. Throws ProviderFault, `refused` if the
   * credentials are invalid.
   */
  check?(account: ProviderAccount): Promise<void>;
  /** How a call refers to LoRA weights stored at this vendor; absent if the reference is used unchanged. */
  adapterReference?(ref: string, revision: string): string;
  /** The vendor's interfaces that can be pinned. */
  pins?: PinApis;
} & { [P in PortName]?: PortAdapter<P> };

/**
 * Defines a provider, which knows its vendor and its ports and nothing of the product. Throws if the facts of a model
 * contradict each other or the provider's ports.
 */
export function defineProvider(provider: Provider): Provider {
  for (const model of provider.models) {
    const { price } = model;
    const hasFlex = price.per === "million_tokens" && price.flexDiscountBps !== undefined;
    if (hasFlex !== Boolean(model.supports.deferred))
      throw new Error(
        `${provider.name} lists ${model.id} with a flex tier and no flex price, or the other way`,
      );
    if (model.supports.stream && !provider[model.port]?.stream)
      throw new Error(
        `${provider.name} lists ${model.id} as streaming, which its port ${model.port} does not`,
      );
    if (Boolean(model.supports.adapters) !== Boolean(model.families?.length))
      throw new Error(
        `${provider.name} lists ${model.id} with LoRA weights and no families, or the other way`,
      );
    if (!provider[model.port])
      throw new Error(
        `${provider.name} lists ${model.id} for the port ${model.port}, which it does not serve`,
      );
  }
  return provider;
}
