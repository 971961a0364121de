import type { z } from "zod";
import type { MaturityRating, ModelFacts, PortAdapter, PortName, ProviderAccount } from "./define";
import type { PinApis } from "./pins";

export type Provider = {
  name: string;
  title: string;
  /** The highest rating of content its usage policy allows. */
  maturity: MaturityRating;
  /** Settings a connection needs; drawn as a form, parsed before use. */
  credentials: z.ZodObject;
  /** Names of the environment settings that hold the operator's own credentials and base URL. */
  environment: { credentials: Record<string, string>; baseUrl: string };
  defaultBaseUrl: string | null;
  models: ModelFacts[];
  /** The vendor documents that it bills requests it answers with an error. */
  errorsAreBilled?: true;
  /**
   * Of servers whose models and prices only their owner knows: reads them from the text the owner wrote. Throws with a
   * sentence about what it could not read. A connection names its own server and models then.
   */
  modelsFrom?(declared: string, members?: readonly string[]): ModelFacts[];
  /** What such an owner may write: a model of each kind. Says what these servers can serve before one is connected. */
  modelsExample?: string;
  /**
   * Asks the vendor whether an account's credentials are good, and nothing else: it changes nothing there and costs nothing.
   * Throws ProviderFault: `refused` where they are not.
   */
  check?(account: ProviderAccount): Promise<void>;
  /** What a call has for LoRA weights that lie with this vendor. Absent: the reference as it is. */
  adapterReference?(ref: string, revision: string): string;
  /** Its own interfaces that can be pinned. */
  pins?: PinApis;
} & { [P in PortName]?: PortAdapter<P> };

/** A provider knows its vendor and its ports, nothing of the product. */
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
