import type { Ctx } from "@/server/domain/ctx";
import type { Json, Step } from "@/server/step";
import type { WakeEvent } from "./client";

/** A durable function, declared once for both engines. Its rows decide at every step, so a repeated run changes nothing. */
export type Flow = {
  /** Its name at an Inngest server and in logs; the embedded queue names the task by its event. */
  id: string;
  event: WakeEvent;
  /** How often a run that throws is retried. */
  retries: number;
  run(ctx: Ctx, data: never, step: Step): Promise<unknown>;
};

export const flow = <Data extends { [key: string]: Json }>(declared: {
  id: string;
  event: WakeEvent<Data>;
  retries: number;
  run(ctx: Ctx, data: Data, step: Step): Promise<unknown>;
}): Flow => declared as Flow; // its event names keys of its own data only
