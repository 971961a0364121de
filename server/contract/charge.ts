import { z } from "zod";

/** The customer's price of one execution; every view of the execution shows the same one. */
export const Charge = z
  .object({
    currency: z.string(),
    estimatedMicros: z
      .int()
      .describe(
        "The expected price with the service fee. For `byok` the provider's list price, because limits compare it.",
      ),
    authorizedMicros: z
      .int()
      .describe("The most that it may cost: what is reserved. 0: nothing is reserved."),
    chargedMicros: z
      .int()
      .nullable()
      .describe(
        "What was taken from the balance or the credits, with the service fee. Null: not known yet. 0 for `byok`: the provider bills you.",
      ),
    state: z
      .enum(["reserved", "charged", "covered", "byok", "not_charged", "unsettled", "written_off"])
      .describe(
        "reserved: it has not ended. charged: paid from the balance. covered: paid with the first-use allowance or test money. byok: it runs on your own provider account, and you owe the service nothing. not_charged: it is free, or its reservation was released. unsettled: it is not known whether the provider charged. written_off: that was never found out, and you pay nothing.",
      ),
  })
  .meta({ id: "Charge", description: "What the customer pays for an execution, in micros of `currency`." });
export type Charge = z.output<typeof Charge>;

/*
 * The names of these fields distinguish the provider's cost from the customer's charge, which includes the service fee.
 * An unknown amount is null, never 0.
 */

export const ProviderCostMicros = z
  .int()
  .nullable()
  .describe("The provider's list price of the work, without the service fee. Null: not known (yet).");

export const ProviderCostEstimatedMicros = z.int().nullable().describe("The same, as it was estimated.");

/** Amounts that limits are compared with; on the caller's own account they are the list price. */
export const ChargeEstimates = {
  chargeEstimatedMicros: z.int().describe("The expected price with the service fee."),
  chargeMaximumMicros: z.int().describe("The most that it may cost with the service fee."),
};
