import type { Ctx } from "@/server/domain/ctx";
import { type HeldKind, isHeld } from "@/server/domain/restores";
import type { Json, Step } from "@/server/platform/durable/step";
import type { WakeEvent } from "./client";

/** A durable function, declared once for both engines. Its rows decide at every step, so a repeated run changes nothing. */
export type Flow = {
  /** The flow's id at an Inngest server and in logs; the embedded queue names its task after the event. */
  id: string;
  event: WakeEvent;
  /** The number of retries of a run that throws. */
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
  /** The kind of hold that a restored installation puts on the subjects of this flow; runs of a held subject do nothing. */
  heldAs: HeldKind;
  run(ctx: Ctx, data: Data, step: Step): Promise<unknown>;
}): Flow {
  return {
    ...(declared as Omit<Flow, "run">), // sound: the event's `subject` and `per` are keys of its data
    run: async (ctx, data: Data, step) => {
      if (!(await isHeld(heldAs, String(data[declared.event.subject])))) await run(ctx, data, step);
    },
  };
}
