import { eventType, staticSchema } from "inngest";
import { durable, inngest } from "../../client";
import { effects } from "./effects";
import price from "./price";

export const orderPlaced = eventType("sample/order.placed", {
  schema: staticSchema<{ orderId: string; count: number }>(),
});

/** One step of every kind. */
export default inngest.createFunction(
  {
    id: "sample-order",
    triggers: [orderPlaced],
    retries: 2,
    concurrency: { key: "event.data.orderId", limit: 3 },
  },
  async ({ event, step, attempt }) => {
    const { orderId, count } = event.data;
    const flow = durable(step);
    const reserved = await flow.run("reserve", async () => {
      effects.push("reserve");
      return { orderId, count };
    });
    await flow.sleep("cool-down", 25);
    const [packed, labelled] = await Promise.all([
      step.run("pack", () => {
        effects.push("pack");
        return "packed";
      }),
      step.run("label", () => {
        effects.push("label");
        return "labelled";
      }),
    ]);
    const total = await step.invoke("price", { function: price, data: { count: reserved.count } });
    const carrier = await step
      .run("cheap-carrier", () => {
        effects.push(`cheap-carrier ${attempt}`);
        throw new RangeError("too heavy");
      })
      .catch((error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : "unknown"));
    await step.sendEvent("announce", { name: "sample/order.priced", data: { orderId } });
    const paid = await step.waitForEvent("payment", {
      event: "sample/order.paid",
      timeout: "1d",
      match: "data.orderId",
    });
    return { packed, labelled, total, carrier, method: paid?.data.method ?? null };
  },
);
