import type { FormValues } from "@/components/blocks/form/form-values";
import { oneOfOr } from "@/components/blocks/list/list-state";
import type { EmbedPolicy, EmbedPresentation } from "@/server/contract/embeds";
import { PRICING_DISPLAYS } from "@/server/contract/enums";
import { ownKeys } from "@/server/contract/own-keys";

/** Parts that an embed may show or hide. */
export const SHOWN_WORDS = {
  showPrompt: "Prompt",
  showReferences: "References",
  showOutputCount: "Number of outputs",
  showTransparency: "Transparency",
  showRouting: "Route",
  showGenerationStrategy: "Generation strategy",
  showModel: "Model",
} as const satisfies Partial<Record<keyof EmbedPresentation, string>>;
export const SHOWN = ownKeys(SHOWN_WORDS);

/** Choices that a request may make if its embed allows them. */
export const ROUTING_WORDS = {
  named_model: "A model",
  named_provider: "A provider",
  exact_pin: "An exact target",
} as const;
export const ROUTING = ownKeys(ROUTING_WORDS);

/** The defaults of an embed. */
export const emptyTerms: {
  presentation: EmbedPresentation;
  policy: EmbedPolicy;
  allowedOrigins: string[];
} = {
  presentation: {
    showPrompt: true,
    showReferences: true,
    showOutputCount: true,
    showTransparency: true,
    showRouting: false,
    showGenerationStrategy: false,
    showModel: false,
    pricingDisplay: "total",
  },
  policy: {
    defaultRoutingPolicy: "lowest_cost",
    allowedRoutingPolicies: [],
    allowedGenerationStrategies: [],
    maxOutputs: 16,
  },
  allowedOrigins: [],
};

export const originsIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** The form's values. Settings without a field keep their values. */
export function readTerms(
  sent: FormValues,
  { policy, presentation }: { policy: EmbedPolicy; presentation: EmbedPresentation },
): { presentation: EmbedPresentation; policy: EmbedPolicy } {
  const others = policy.allowedRoutingPolicies.filter((name) => !ROUTING.some((each) => each === name));
  const shown = sent.chosen("shown", SHOWN);
  return {
    presentation: {
      ...presentation,
      ...Object.fromEntries(SHOWN.map((name) => [name, shown.includes(name)])),
      pricingDisplay: oneOfOr("total", PRICING_DISPLAYS)(sent.text("pricingDisplay")),
    },
    policy: {
      ...policy,
      allowedRoutingPolicies: [...sent.chosen("routing", ROUTING), ...others],
      maxOutputs: Number(sent.text("maxOutputs")),
      maxSpendPerJobMicros: sent.micros("maxSpendPerJobMicros"),
    },
  };
}
