import { sentAmount } from "@/components/ui/amount";
import { PanelPolicy, PanelPresentation } from "@/server/contract/panels";

/** What an embed may show besides the form's own fields. */
export const SHOWN_WORDS = {
  showPrompt: "Prompt",
  showReferences: "References",
  showOutputCount: "Number of outputs",
  showTransparency: "Transparency",
  showRouting: "Route",
  showGenerationStrategy: "Generation strategy",
  showModel: "Model",
} as const satisfies Partial<Record<keyof PanelPresentation, string>>;
export const SHOWN = Object.keys(SHOWN_WORDS) as (keyof typeof SHOWN_WORDS)[]; // its own keys

/** What a request may choose, where its embed allows it. */
export const ROUTING_WORDS = {
  named_model: "A model",
  named_provider: "A provider",
  exact_pin: "An exact target",
} as const;
export const ROUTING = Object.keys(ROUTING_WORDS) as (keyof typeof ROUTING_WORDS)[]; // its own keys

/** The defaults of an embed. */
export const emptyTerms = {
  presentation: PanelPresentation.parse({}),
  policy: PanelPolicy.parse({}),
  allowedOrigins: [] as string[],
};

export const originsIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** The form's values. Settings without a field keep their values. */
export function readTerms(
  fields: FormData,
  {
    shown,
    routing,
    policy,
    presentation,
  }: {
    shown: ReadonlySet<string>;
    routing: ReadonlySet<string>;
    policy: PanelPolicy;
    presentation: PanelPresentation;
  },
): { presentation: PanelPresentation; policy: PanelPolicy } {
  const others = policy.allowedRoutingPolicies.filter((name) => !ROUTING.some((each) => each === name));
  return {
    presentation: {
      ...presentation,
      ...Object.fromEntries(SHOWN.map((name) => [name, shown.has(name)])),
      pricingDisplay: PanelPresentation.shape.pricingDisplay.parse(fields.get("pricing")),
    },
    policy: {
      ...policy,
      allowedRoutingPolicies: [...ROUTING.filter((name) => routing.has(name)), ...others],
      maxOutputs: Number(fields.get("outputs")),
      maxSpendPerJobMicros: sentAmount(fields, "spend"),
    },
  };
}
