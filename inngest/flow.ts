import type { Ctx } from "@/server/domain/ctx";
import { type HeldKind, isHeld } from "@/server/domain/restores";
import type { Json, Step } from "@/server/platform/durable/step";
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

export function flow<Data extends { [key: string]: Json }>({
  heldAs,
  run,
  ...declared
}: {
  id: string;
  event: WakeEvent<Data>;
  retries: number;
  /** What a restored installation holds it as: such runs end without having done anything. */
  heldAs: HeldKind;
  run(ctx: Ctx, data: Data, step: Step): Promise<unknown>;
}): Flow {
  return {
    ...(declared as Omit<Flow, "run">), // its event names keys of its own data only
    run: async (ctx, data: Data, step) => {
      if (!(await isHeld(heldAs, String(data[declared.event.subject])))) await run(ctx, data, step);
    },
  };
}
