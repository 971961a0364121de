import type { z } from "zod";
import type { ConnectableProvider } from "@/server/contract/credentials";
import { isConnectable } from "@/server/domain/connections";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";
import { allCapabilities } from "./registry";
import { couldServe } from "./targets";

/**
 * Returns the providers whose accounts can be connected, with the fields of their forms and the capabilities that an
 * account unlocks.
 */
export function connectableProviders(): ConnectableProvider[] {
  return providers.filter(isConnectable).map((provider) => ({
    name: provider.name,
    title: provider.title,
    fields: fieldsOf(provider),
    hasOwnServer: provider.modelsFrom !== undefined,
    unlocks: allCapabilities
      .filter((capability) => couldServe(provider, capability))
      .map(({ key, title }) => ({ key, title })),
  }));
}

function fieldsOf({ credentials }: Provider): ConnectableProvider["fields"] {
  return Object.entries(credentials.shape).map(([name, schema]) => ({
    name,
    description: (schema as z.ZodType).description ?? null, // every member of a shape is a schema
    required: !(schema as z.ZodType).safeParse(undefined).success,
  }));
}
