import { type Capability, stageAsCapability } from "@/server/capabilities/define";
import { type BoundConnection, isConnectable } from "@/server/domain/connections";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";
import { couldServe, SANDBOX, targetsAbleTo } from "./targets";

/**
 * A kind of call that a capability may make, with the connectable providers that could answer it, in the order of
 * routing.
 */
export type Need = {
  what: string;
  providers: Provider[];
  /** The given connections that can answer it now, by `credentialId`. */
  servedBy: string[];
};

/**
 * Returns the kinds of calls that a capability may make, judged by its first example. The list is empty if the
 * capability runs locally.
 */
export function needsOf(capability: Capability, connections: readonly BoundConnection[] = []): Need[] {
  const { execute, input, examples } = capability;
  if ("local" in execute) return [];
  const example = examples[0] && input.safeParse(examples[0].input);
  const stages = example?.success ? (execute.stages?.(example.data) ?? []) : [];
  const all = [
    needOf(execute.port, capability, connections),
    ...stages.map((stage) => needOf(stage.execute.port, stageAsCapability(capability, stage), connections)),
  ];
  // Several stages with the same need, such as four views drawn one by one, are listed once.
  const names = new Map(all.map((need) => [`${need.what} ${need.providers.map(({ name }) => name)}`, need]));
  return [...names.values()];
}

function needOf(what: string, capability: Capability, connections: readonly BoundConnection[]): Need {
  const able = targetsAbleTo(capability, connections).filter(({ provider }) => provider.name !== SANDBOX);
  const listed = able.filter(({ listedBy }) => !listedBy).map(({ provider }) => provider);
  const withServer = providers.filter((provider) => provider.modelsFrom && couldServe(provider, capability));
  const could = [...new Set([...listed, ...withServer])].filter(isConnectable);
  const servedBy = connections.filter(({ credentialId, provider }) =>
    able.some((target) =>
      target.listedBy ? target.listedBy === credentialId : target.provider.name === provider,
    ),
  );
  return { what, providers: could, servedBy: servedBy.map(({ credentialId }) => credentialId) };
}
